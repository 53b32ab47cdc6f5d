/// A sequence of tokens with which patterns begin: a node of the tree in a ``PatternIndex``.
///
/// A node keeps its parent alive, a membership its node: so a node lives as long as a pattern needs it.
/// What points downwards are links.
///
/// ## Thread safety
/// As ``PatternLink``.
final class PatternNode: @unchecked Sendable {
  // Sendable: links are; `parent` changes in `deinit` only, `uses` under the lock of the index; the rest
  // never changes.

  /// Unique in the index, also in time.
  let id: Int
  private(set) var parent: PatternNode?
  let parentID: Int
  /// The key of the last token; 0 for the root and after a wildcard.
  let hash: Int
  /// The last token, if it is ASCII.
  private let ascii: UnsafeMutableRawBufferPointer
  /// The last token, if it is not.
  private let text: String?

  /// The node for one more token, of any text.
  let star = PatternLink<PatternNode>()
  /// The memberships of patterns that end here.
  let exact = PatternLink<PatternMembership>()
  /// The memberships of patterns that end here with the wildcard for one token or more.
  let rest = PatternLink<PatternMembership>()
  /// The number of children and lists that are not empty. Under the lock of the index.
  var uses = 0

  /// - Parameters:
  ///   - parent: `nil` for the root, and for the mark of slots whose node was removed.
  ///   - key: `nil` if the last token is a wildcard.
  init(_ id: Int, _ parent: PatternNode?, _ key: TokenKey?) {
    self.id = id
    self.parent = parent
    parentID = parent?.id ?? -1
    hash = key?.hash ?? 0
    let utf8 = key?.text.flatMap { $0.isASCII ? Array($0.utf8) : nil }
    text = utf8 == nil ? key?.text : nil
    // SAFETY: freed by `deinit`.
    ascii = .allocate(byteCount: utf8?.count ?? key?.ascii.count ?? 0, alignment: 1)
    if let utf8 {
      ascii.copyBytes(from: utf8)
    } else if let key {
      ascii.copyMemory(from: key.ascii)
    }
  }

  /// Whether the last token is a wildcard.
  var isStar: Bool { parent != nil && text == nil && ascii.isEmpty }

  /// Releases the ancestors in a loop, up to one that is needed elsewhere: nested releases would exhaust
  /// the stack after a pattern of very many tokens.
  deinit {
    ascii.deallocate()
    var next = parent
    parent = nil
    while next != nil, isKnownUniquelyReferenced(&next) {
      let following = next?.parent
      next?.parent = nil
      next = following
    }
  }

  /// Whether this is the child of a node for a token.
  @inline(__always)
  func isChild(of parentID: Int, _ key: TokenKey) -> Bool {
    guard hash == key.hash, self.parentID == parentID else { return false }
    if let text = key.text { return text == (self.text ?? asciiText) }
    return ascii.count == key.ascii.count && ascii.elementsEqual(key.ascii)
  }

  private var asciiText: String { String(decoding: ascii, as: UTF8.self) }
}

/// That the subscribers of a ``PatternTarget`` receive what a pattern matches.
///
/// ## Thread safety
/// As ``PatternLink``.
final class PatternMembership: @unchecked Sendable {
  // Sendable: `next` is a link; `previous` changes under the lock of the index; the rest never changes.
  let node: PatternNode
  /// Whether the pattern ends with the wildcard for one token or more.
  let isRest: Bool
  let target: Unmanaged<PatternTarget>
  /// The next one of the same pattern.
  let next = PatternLink<PatternMembership>()
  /// The one before. Under the lock of the index.
  unowned(unsafe) var previous: PatternMembership?

  init(_ node: PatternNode, isRest: Bool, _ target: PatternTarget) {
    self.node = node
    self.isRest = isRest
    self.target = .passUnretained(target)
  }
}
