/// The `locked` strategy: a list under a lock. A reader copies the list.
///
/// Simple enough to be obviously right: the oracle for the other strategies.
final class LockedStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is used only inside `lock`.
  /// Held by one reader or writer at a time. No user code runs inside.
  private let lock = Lock()
  private var table = EntryTable(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    lock.withLock { table.slots.copy() }
  }

  func update<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R {
    lock.withLock { change(&table) }
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R? {
    lock.withLockIfAvailable { change(&table) }
  }
}
