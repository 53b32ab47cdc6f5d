internal import CMulticast

/// Slots in a Swift array: a reader retains the array as its snapshot, and a change copies the
/// array if a reader holds it.
struct ArraySlots: EntrySlots {
  /// One element for each used slot.
  private var elements: ContiguousArray<Entry?> = []
  private(set) var capacity = 0

  var used: Int { elements.count }

  /// The entries, for a reader that may keep them while they change.
  func snapshot() -> ContiguousArray<Entry?> {
    // A change writes into the array if no reader retains it any more. The reference counts of the
    // runtime order that after the reads, but do not tell the thread sanitizer, which would report
    // a race where the compiler has inlined the reads. In its builds each reader has a copy.
    cmulticast_is_thread_sanitized ? copy() : elements
  }

  /// The entries, in an array of their own.
  func copy() -> ContiguousArray<Entry?> {
    var copy: ContiguousArray<Entry?> = []
    copy.reserveCapacity(used)
    for case let entry? in elements { copy.append(entry) }
    return copy
  }

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
    // Copies the array if a reader holds it. That reader releases the old array outside of any
    // lock; the new array and, for this entry, the caller hold the entries.
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
