/// The `readerWriterLock` strategy: a list under a readers-writer lock. A reader retains
/// the list.
final class ReaderWriterLockStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is read only inside `lock`, and changed only inside its write lock.
  private let lock = ReaderWriterLock()
  private var table = EntryTable(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    lock.withReadLock { table.slots.snapshot() }
  }

  func update<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R {
    lock.withWriteLock { change(&table) }
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R? {
    lock.withWriteLockIfAvailable { change(&table) }
  }
}
