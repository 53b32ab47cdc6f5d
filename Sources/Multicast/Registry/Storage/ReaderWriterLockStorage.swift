/// The `readerWriterLock` strategy: a list under a readers-writer lock, which a reader retains.
final class ReaderWriterLockStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `roster` is read inside `lock` and changed inside its writer's side alone.
  private let lock = ReaderWriterLock()
  private var roster = Roster(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    lock.withReadLock { roster.slots.places }
  }

  func update<R>(_ change: (inout Roster<ArraySlots>) -> R) -> R {
    lock.withWriteLock { change(&roster) }
  }

  func updateIfAvailable<R>(_ change: (inout Roster<ArraySlots>) -> R) -> R? {
    lock.withWriteLockIfAvailable { change(&roster) }
  }
}
