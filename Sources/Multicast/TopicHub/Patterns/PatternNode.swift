/// A sequence of tokens with which patterns begin: a node of the tree in a ``PatternIndex``.
///
/// A node keeps its parent alive, a membership its node: so a node lives as long as a pattern needs
/// it. What points downwards are links.
///
/// ## Thread safety
/// As ``PatternLink``.
final class PatternNode: @unchecked Sendable {
  // Sendable: links are; `parent` changes in `deinit` only, `uses` under the lock of the index; the
  // rest never changes.

  /// Unique in the index, also in time.
  let id: Int
  private(set) var parent: PatternNode?
  let parentID: Int
  /// The key of the last token; 0 for the root and after a wildcard.
  let hash: Int
  /// The last token, if it is ASCII.
  private let asciiCount: Int
  private let prefix: TokenKey.Prefix
  /// All bytes of one that is longer than the prefix; otherwise empty.
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
    let bytes = utf8 ?? key.map { Array($0.ascii) } ?? []
    asciiCount = bytes.count
    prefix = bytes.withUnsafeBytes { TokenKey.Prefix($0) }
    // SAFETY: freed by `deinit`.
    ascii = .allocate(
      byteCount: bytes.count > TokenKey.Prefix.size ? bytes.count : 0, alignment: 1)
    if !ascii.isEmpty { ascii.copyBytes(from: bytes) }
  }

  /// Whether the last token is a wildcard.
  var isStar: Bool { parent != nil && text == nil && asciiCount == 0 }

  /// Releases the ancestors in a loop, up to one that is needed elsewhere: nested releases would
  /// exhaust the stack after a pattern of very many tokens.
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
    if let text = key.text { return isEqual(to: text) }
    guard asciiCount == key.ascii.count, prefix == key.prefix else { return false }
    return ascii.isEmpty || ascii.elementsEqual(key.ascii)
  }

  /// Whether the last token is canonically equivalent to one that is not ASCII as it was written.
  private func isEqual(to other: String) -> Bool {
    if let text { return text == other }
    var other = other
    return other.withUTF8 { bytes in
      asciiCount == bytes.count && prefix == TokenKey.Prefix(UnsafeRawBufferPointer(bytes))
        && (ascii.isEmpty || ascii.elementsEqual(bytes))
    }
  }
}

/// That the subscribers of a ``PatternTarget`` receive what a pattern matches.
///
/// ## Thread safety
/// As ``PatternLink``.
final class PatternMembership: @unchecked Sendable {
  // Sendable: `next` is a link; `previous` changes under the lock of the index; the rest never
  // changes.
  //
  // SAFETY: the index keeps the target and the membership before this one as long as this is
  // linked, and only a thread that holds the lock of the index follows `previous`.
  let node: PatternNode
  /// Whether the pattern ends with the wildcard for one token or more.
  let isRest: Bool
  let target: Unmanaged<PatternTarget>
  /// What a search returns: that of the target, so that a sender need not read the target.
  let subject: Unmanaged<AnyObject>
  /// Whether the target has other patterns too.
  let isOneOfSeveral: Bool
  /// The next one of the same pattern.
  let next = PatternLink<PatternMembership>()
  /// The one before. Under the lock of the index.
  unowned(unsafe) var previous: PatternMembership?

  init(_ node: PatternNode, isRest: Bool, _ target: PatternTarget) {
    self.node = node
    self.isRest = isRest
    self.target = .passUnretained(target)
    subject = target.subject
    isOneOfSeveral = target.patterns.count > 1
  }
}
