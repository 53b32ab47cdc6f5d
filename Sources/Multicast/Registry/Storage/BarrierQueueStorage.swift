internal import Dispatch

/// The `barrierQueue` strategy: a list on a concurrent queue, which a reader retains.
///
/// The queue is private and runs nothing but the few lines below, so `sync` cannot deadlock.
final class BarrierQueueStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is read on `queue` and changed in its barriers alone.
  private let queue = DispatchQueue(label: "swift-multicast.entries", attributes: .concurrent)
  private var table = EntryTable(ArraySlots())

  func snapshot() -> ContiguousArray<Entry?> {
    queue.sync { table.slots.places }
  }

  func update<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R {
    queue.sync(flags: .barrier) { change(&table) }
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<ArraySlots>) -> R) -> R? {
    // A queue cannot be asked whether it is free; what it runs is short.
    update(change)
  }
}
