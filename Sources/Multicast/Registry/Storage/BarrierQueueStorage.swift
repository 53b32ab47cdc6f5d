internal import Dispatch

/// The `barrierQueue` strategy: a list on a concurrent queue. A reader retains the list.
///
/// The queue is private and runs only the lines below, so `sync` cannot deadlock.
final class BarrierQueueStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is read only on `queue`, and changed only in its barriers.
  private let queue = DispatchQueue(label: "swift-multicast.entries", attributes: .concurrent)
  private var table = EntryTable(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    queue.sync { table.slots.snapshot() }
  }

  func update<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R {
    queue.sync(flags: .barrier) { change(&table) }
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R? {
    // A queue has no try-lock; its blocks are short.
    update(change)
  }
}
