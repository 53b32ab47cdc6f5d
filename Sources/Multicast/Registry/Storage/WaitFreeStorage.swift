/// The `waitFree` strategy: a published list, guarded by a read indicator.
final class WaitFreeStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is used only inside `lock`; readers use `slots`, which is Sendable.
  let slots = PublishedSlots()
  /// Held by the writer. Readers never take it.
  private let lock = Lock()
  // Unchecked: the check of exclusive access costs more than most changes, and `lock` gives it.
  @exclusivity(unchecked) private var table: EntryTable<PublishedSlots>

  init() {
    table = EntryTable(slots)
  }

  func snapshot() -> ContiguousArray<Entry?> {
    slots.snapshot()
  }

  func update<R>(_ change: (inout EntryTable<PublishedSlots>) -> R) -> R {
    let (result, lists) = lock.withLock { (change(&table), slots.takeReplaced()) }
    slots.retire(lists)
    return result
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<PublishedSlots>) -> R) -> R? {
    let attempt = lock.withLockIfAvailable { (change(&table), slots.takeReplaced()) }
    guard let (result, lists) = attempt else { return nil }
    slots.retire(lists)
    return result
  }

  func retire(_ removed: AnyObject) {
    slots.reclaimer.retire(removed)
  }
}
