/// The nodes of a ``PatternIndex`` that a token leads to, in a hash table with open addressing. At
/// most half of its slots are used; a slot whose node was removed is not used again.
///
/// ## Thread safety
/// As ``PatternLink``.
final class PatternSlots: @unchecked Sendable {
  // Sendable: the pointer and the mark never change, the slots are links, and `used` changes under
  // the lock of the index.

  private typealias Slot = PatternLink<PatternNode>

  /// The number of slots minus one.
  private let mask: Int
  private let slots: UnsafeMutablePointer<Slot>
  /// In slots whose node was removed: the child of no node.
  private let mark: PatternNode
  /// The number of slots that are not empty.
  private var used = 0

  /// - Parameter nodes: those to insert, which are distinct.
  init(_ nodes: [PatternNode], mark: PatternNode) {
    var count = 16
    while count < 4 * nodes.count { count *= 2 }
    mask = count - 1
    self.mark = mark
    // SAFETY: freed by `deinit`; every slot is initialised here.
    slots = .allocate(capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Slot()) }
    for node in nodes { insert(node) }
  }

  deinit {
    slots.deinitialize(count: mask + 1)
    slots.deallocate()
  }

  /// The number of slots.
  var capacity: Int { mask + 1 }

  /// Whether one more node would use more than half of the slots.
  var isFull: Bool { 2 * (used + 1) > mask + 1 }

  /// The child of the node `parentID` for a token, inside a read section.
  ///
  /// - Complexity: O(1) on average.
  @inline(__always)
  func child(of parentID: Int, _ key: TokenKey) -> Unmanaged<PatternNode>? {
    var index = Self.start(parentID, key.hash)
    while let node = slots[index & mask].load() {
      // SAFETY: the read section keeps the node alive.
      if node._withUnsafeGuaranteedRef({ $0.isChild(of: parentID, key) }) { return node }
      index &+= 1
    }
    return nil
  }

  /// Inserts a node. The table is not full.
  func insert(_ node: PatternNode) {
    var index = Self.start(node.parentID, node.hash)
    while slots[index & mask].current != nil { index &+= 1 }
    slots[index & mask].store(node)
    used += 1
  }

  /// Removes a node that is in the table.
  func remove(_ node: PatternNode) {
    var index = Self.start(node.parentID, node.hash)
    while slots[index & mask].current !== node { index &+= 1 }
    slots[index & mask].store(mark)
  }

  /// The nodes, for a writer.
  var nodes: [PatternNode] {
    (0...mask).compactMap { slots[$0].current }.filter { $0 !== mark }
  }

  /// Where to begin to search. Spreads also the children of successive nodes for equal tokens.
  @inline(__always)
  private static func start(_ parentID: Int, _ hash: Int) -> Int {
    var mixed = UInt(bitPattern: hash) ^ (UInt(bitPattern: parentID) &* 0x9E37_79B9_7F4A_7C15)
    mixed = (mixed ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return Int(bitPattern: mixed ^ (mixed >> 32))
  }
}
