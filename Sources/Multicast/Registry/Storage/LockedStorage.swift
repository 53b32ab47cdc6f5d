/// The `locked` strategy: a list under a lock, of which a reader takes a copy.
///
/// The oracle: simple enough to be obviously right. The others are checked against it.
final class LockedStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is touched inside `lock` alone.
  private let lock = Lock()
  private var table = EntryTable(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    lock.withLock {
      var copy: ContiguousArray<Entry?> = []
      copy.reserveCapacity(table.count)
      for case let entry? in table.slots.places { copy.append(entry) }
      return copy
    }
  }

  func update<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R {
    lock.withLock { change(&table) }
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R? {
    lock.withLockIfAvailable { change(&table) }
  }
}
