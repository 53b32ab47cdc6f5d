/// The list of a storage's entries, in which an entry keeps its slot.
///
/// A removed entry leaves its slot empty until ``compact(to:)``, so removing is O(1). Removed
/// entries are returned, to be released outside the critical section.
protocol EntrySlots {
  /// The number of slots used since the last compaction, including empty ones.
  var used: Int { get }
  /// The number of slots.
  var capacity: Int { get }
  /// Runs `body` with each entry and its slot, in order.
  func forEachEntry(_ body: (Int, Unmanaged<Entry>) -> Void)
  /// Puts `entry` into the first unused slot. There must be one. Takes over a retain.
  mutating func append(_ entry: Unmanaged<Entry>)
  /// Puts `entry` into `slot`, and returns the old entry. Takes over a retain.
  mutating func exchange(_ slot: Int, for entry: Unmanaged<Entry>) -> Entry
  /// Empties `slot`, and returns its entry.
  mutating func remove(at slot: Int) -> Entry
  /// Closes the gaps, in order, and makes `capacity` slots.
  mutating func compact(to capacity: Int)
  /// Empties every slot, and returns the entries in order.
  mutating func removeAll() -> ContiguousArray<Entry>
  /// Frees what the slots own, at the end of their table.
  func destroy()
}

extension EntrySlots {
  /// Does nothing: usually the slots own nothing by hand.
  func destroy() {}
}
