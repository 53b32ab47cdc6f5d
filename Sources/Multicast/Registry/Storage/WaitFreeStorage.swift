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

  func retire(_ removed: Entry) {
    var list = RetiredList()
    list.prepend(removed)
    slots.retire(list)
  }

  func retire(_ removed: ContiguousArray<Entry>) {
    var list = RetiredList()
    for entry in removed.reversed() { list.prepend(entry) }
    slots.retire(list)
  }
}

extension RetiredList {
  /// Retains a removed entry, and makes it the first one. It has left the index, so the link is its
  /// `next`.
  fileprivate mutating func prepend(_ entry: Entry) {
    withUnsafeMutablePointer(to: &entry.head.pointee.next) { next in
      prepend(Unmanaged<AnyObject>.passRetained(entry), link: UnsafeMutableRawPointer(next))
    }
  }
}
