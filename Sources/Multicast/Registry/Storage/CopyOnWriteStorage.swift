/// The `copyOnWrite` strategy: a list under a lock, which a reader retains.
final class CopyOnWriteStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `roster` is touched inside `lock` alone.
  private let lock = Lock()
  private var roster = Roster(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    lock.withLock { roster.slots.places }
  }

  func update<R>(_ change: (inout Roster<ArraySlots>) -> R) -> R {
    lock.withLock { change(&roster) }
  }

  func updateIfAvailable<R>(_ change: (inout Roster<ArraySlots>) -> R) -> R? {
    lock.withLockIfAvailable { change(&roster) }
  }
}
