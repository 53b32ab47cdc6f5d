/// The `waitFree` strategy: a published list, guarded by reader counters.
final class WaitFreeStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is touched inside `lock` alone; readers use `slots`, which is Sendable.
  let slots = PublishedSlots(capacity: EntryTable<PublishedSlots>.minimumCapacity)
  /// Held by whoever changes the list. Readers never take it.
  private let lock = Lock()
  private var table: EntryTable<PublishedSlots>

  init() {
    table = EntryTable(slots)
  }

  func snapshot() -> ContiguousArray<Entry?> {
    slots.snapshot()
  }

  func update<R>(_ change: (inout EntryTable<PublishedSlots>) -> R) -> R {
    var lists: ContiguousArray<SlotList> = []
    let result = lock.withLock {
      let result = change(&table)
      lists = slots.takeReplaced()
      return result
    }
    slots.retire(lists)
    return result
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<PublishedSlots>) -> R) -> R? {
    let attempt = lock.withLockIfAvailable { (change(&table), slots.takeReplaced()) }
    guard let (result, lists) = attempt else { return nil }
    slots.retire(lists)
    return result
  }

  func retire(_ removed: Entry) {
    slots.reclaimer.retire(removed)
  }

  func retire(_ removed: ContiguousArray<Entry>) {
    slots.reclaimer.retire(Batch(removed))
  }

  /// Many entries that wait for their last reader together.
  private final class Batch {
    private let entries: ContiguousArray<Entry>

    init(_ entries: ContiguousArray<Entry>) {
      self.entries = entries
    }
  }
}
