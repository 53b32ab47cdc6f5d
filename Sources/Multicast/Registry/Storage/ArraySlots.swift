/// Slots in an array of Swift: a reader that retains the array has a snapshot, and a change copies
/// the array if a reader holds it.
struct ArraySlots: EntrySlots {
  /// One element for each place that is used.
  private(set) var places: ContiguousArray<Entry?> = []
  private(set) var capacity = 0

  var used: Int { places.count }

  var entries: ContiguousArray<Unmanaged<Entry>> {
    ContiguousArray(places.lazy.compactMap { $0.map(Unmanaged.passUnretained) })
  }

  mutating func append(_ entry: Entry) {
    places.append(entry)
  }

  mutating func remove(at slot: Int) -> Entry {
    let entry = places[slot]
    // If a reader holds the array, this copies it. Then the reader releases the old array, outside
    // of any lock; its entries stay in ours or, this one, with our caller.
    places[slot] = nil
    return entry!
  }

  mutating func exchange(_ slot: Int, for entry: Entry) -> Entry {
    let old = places[slot]
    places[slot] = entry
    return old!
  }

  mutating func compact(to capacity: Int) {
    var compacted: ContiguousArray<Entry?> = []
    compacted.reserveCapacity(capacity)
    for case let entry? in places { compacted.append(entry) }
    places = compacted
    self.capacity = capacity
  }

  mutating func removeAll() -> ContiguousArray<Entry> {
    let removed = ContiguousArray(places.lazy.compactMap { $0 })
    places = []
    capacity = 0
    return removed
  }
}
