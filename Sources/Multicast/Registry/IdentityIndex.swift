/// Finds entries by the address of their target.
///
/// A hash table whose chains link the entries themselves: it removes an entry in constant time, even
/// among many of the same delegate. It hashes addresses: no `hash(into:)` or `==` of a user runs.
///
/// Up to four entries form one chain without a table: most hubs have no more.
///
/// It owns nothing. An entry must be removed from it before it is released.
struct IdentityIndex {
  private var chains = Chains.none

  /// The first entry of each chain.
  private enum Chains {
    case none
    case one(Unmanaged<Entry>)
    case buckets(ContiguousArray<Unmanaged<Entry>?>)
  }

  /// The largest capacity with one chain.
  private static var chainLength: Int { 4 }

  /// Adds `entry`, in front of others with the same address.
  ///
  /// - Complexity: O(1).
  mutating func insert(_ entry: Unmanaged<Entry>) {
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

  /// Replaces the contents by `entries`, with buckets for `capacity` of them.
  ///
  /// - Complexity: O(`capacity`).
  mutating func rebuild(for capacity: Int, _ entries: ContiguousArray<Unmanaged<Entry>>) {
    var count = 0
    if capacity > Self.chainLength {
      count = 2 * Self.chainLength
      while count < capacity { count *= 2 }
    }
    chains = count == 0 ? .none : .buckets(ContiguousArray(repeating: nil, count: count))
    for entry in entries { insert(entry) }
  }

  /// The first entry of the chain for this address.
  private subscript(address: Int) -> Unmanaged<Entry>? {
    get {
      switch chains {
      case .none: nil
      case .one(let first): first
      case .buckets(let buckets): buckets[Self.bucket(of: address, among: buckets.count)]
      }
    }
    set {
      if case .buckets(var buckets) = chains {
        chains = .none  // Otherwise the array would be copied.
        buckets[Self.bucket(of: address, among: buckets.count)] = newValue
        chains = .buckets(buckets)
      } else {
        chains = newValue.map(Chains.one) ?? .none
      }
    }
  }

  private static func bucket(of address: Int, among count: Int) -> Int {
    // Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. The low bits of an
    // address are zero; the product's high bits depend on all of them.
    let hash = UInt(bitPattern: address) &* 0x9E37_79B9_7F4A_7C15
    return Int(hash >> 32) & (count - 1)
  }
}
