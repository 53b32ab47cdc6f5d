/// Slots in a Swift array: a reader retains the array as its snapshot, and a change copies the
/// array if a reader holds it.
struct ArraySlots: EntrySlots {
  /// One element for each used slot.
  private(set) var elements: ContiguousArray<Entry?> = []
  private(set) var capacity = 0

  var used: Int { elements.count }

  func forEachEntry(_ body: (Int, Unmanaged<Entry>) -> Void) {
    for (slot, element) in elements.enumerated() {
      if let element { body(slot, .passUnretained(element)) }
    }
  }

  mutating func append(_ entry: Unmanaged<Entry>) {
    elements.append(entry.takeRetainedValue())  // SAFETY: the retain is passed to the slots.
  }

  mutating func remove(at slot: Int) -> Entry {
    let entry = elements[slot]
    // Copies the array if a reader holds it. That reader releases the old array outside of any lock;
    // the new array and, for this entry, the caller hold the entries.
    elements[slot] = nil
    return entry!
  }

  mutating func exchange(_ slot: Int, for entry: Unmanaged<Entry>) -> Entry {
    let old = elements[slot]
    elements[slot] = entry.takeRetainedValue()  // SAFETY: as in `append`.
    return old!
  }

  mutating func compact(to capacity: Int) {
    var compacted: ContiguousArray<Entry?> = []
    compacted.reserveCapacity(capacity)
    for case let entry? in elements { compacted.append(entry) }
    elements = compacted
    self.capacity = capacity
  }

  mutating func removeAll() -> ContiguousArray<Entry> {
    let removed = ContiguousArray(elements.lazy.compactMap { $0 })
    elements = []
    capacity = 0
    return removed
  }
}
