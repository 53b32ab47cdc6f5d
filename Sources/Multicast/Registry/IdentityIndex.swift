/// Finds entries by the address of their target.
///
/// A hash table whose chains link the entries themselves: it removes an entry in constant time,
/// even among many of the same delegate. It hashes addresses: no `hash(into:)` or `==` of a user
/// runs.
///
/// Few entries form one chain without a table: most hubs have no more.
///
/// It owns no entry. An entry must be removed from it before it is released. It has only entries
/// that are searched for: see `EntryHead.isIndexed`.
struct IdentityIndex: ~Copyable {
  private typealias Chain = Unmanaged<Entry>?

  /// The first entry of each chain; without a table, the first entry of the only chain.
  private var chains: UnsafeMutableRawPointer? = nil
  /// The number of chains of the table, a power of two, minus one; 0 without a table.
  private var mask: UInt32 = 0

  init() {}

  deinit {
    // SAFETY: `makeTable` has allocated it.
    table?.deallocate()
  }

  private var table: UnsafeMutablePointer<Chain>? {
    // SAFETY: `makeTable` has bound it. A table has at least two chains.
    mask == 0 ? nil : chains?.assumingMemoryBound(to: Chain.self)
  }

  /// The largest capacity with one chain.
  private static var chainLength: Int { 8 }

  /// Adds `entry`, in front of others with the same address.
  ///
  /// - Parameter capacity: the number of entries that the list has slots for.
  /// - Complexity: amortised O(1).
  mutating func insert(_ entry: Unmanaged<Entry>, of capacity: Int) {
    guard entry.head.pointee.isIndexed else { return }
    // If there is none for so many, no entry is in the index: see `rebuild`.
    if capacity > Self.chainLength && table == nil { makeTable(for: capacity) }
    let address = entry.head.pointee.address
    let first = self[address]
    entry.head.pointee.previous = nil
    entry.head.pointee.next = first
    first?.head.pointee.previous = entry
    self[address] = entry
  }

  /// Removes `entry`.
  ///
  /// - Complexity: O(1).
  mutating func remove(_ entry: Unmanaged<Entry>) {
    let head = entry.head
    guard head.pointee.isIndexed else { return }
    head.pointee.next?.head.pointee.previous = head.pointee.previous
    if let previous = head.pointee.previous {
      previous.head.pointee.next = head.pointee.next
    } else {
      self[head.pointee.address] = head.pointee.next
    }
    head.pointee.previous = nil
    head.pointee.next = nil
  }

  /// The newest entry whose target has, or had, this address.
  ///
  /// - Complexity: O(1) on average.
  func first(at address: Int) -> Unmanaged<Entry>? {
    matching(address, from: self[address])
  }

  /// The next older entry with the same address as `entry`.
  func next(after entry: Unmanaged<Entry>) -> Unmanaged<Entry>? {
    matching(entry.head.pointee.address, from: entry.head.pointee.next)
  }

  private func matching(_ address: Int, from first: Unmanaged<Entry>?) -> Unmanaged<Entry>? {
    var candidate = first
    while let entry = candidate {
      if entry.head.pointee.address == address { return entry }
      candidate = entry.head.pointee.next
    }
    return nil
  }

  /// Fits the table to a list that has been given slots for `capacity` entries.
  ///
  /// A table that is up to four times as large is kept: a list that is compacted now and again does
  /// not cost a table each time.
  ///
  /// - Complexity: O(`capacity`); O(1) if the table has about the right size already.
  mutating func rebuild(for capacity: Int, _ slots: some EntrySlots) {
    guard capacity > Self.chainLength || table != nil else { return }
    let count = Self.chainCount(for: capacity)
    guard !(count...4 * count).contains(Int(mask) + 1) || count == 1 else { return }
    table?.deallocate()
    (chains, mask) = (nil, 0)
    slots.forEachEntry { _, entry in insert(entry, of: capacity) }
  }

  private static func chainCount(for capacity: Int) -> Int {
    guard capacity > chainLength else { return 1 }
    var count = 2 * chainLength
    while count < capacity { count *= 2 }
    return count
  }

  private mutating func makeTable(for capacity: Int) {
    let count = Self.chainCount(for: capacity)
    // SAFETY: freed by `rebuild` or `deinit`.
    let table = UnsafeMutablePointer<Chain>.allocate(capacity: count)
    table.initialize(repeating: nil, count: count)
    chains = UnsafeMutableRawPointer(table)
    mask = UInt32(count - 1)
  }

  /// The first entry of the chain for this address.
  private subscript(address: Int) -> Unmanaged<Entry>? {
    get {
      // SAFETY: the table has `mask + 1` chains.
      guard let table else { return chains.map { .fromOpaque($0) } }
      return table[chain(of: address)]
    }
    set {
      if let table { table[chain(of: address)] = newValue } else { chains = newValue?.toOpaque() }
    }
  }

  private func chain(of address: Int) -> Int {
    // Objects of one block of 512 bytes have neighbouring chains: those that were allocated one
    // after the other are often registered so, and their chains are in the cache then.
    let unit = UInt(bitPattern: address) >> 4
    // Fibonacci hashing of the block: the multiplier is 2^64 divided by the golden ratio. The
    // product's high bits depend on all bits.
    let block = ((unit >> 5) &* 0x9E37_79B9_7F4A_7C15) >> 32
    return Int((block ^ (unit & 31)) & UInt(mask))
  }
}
