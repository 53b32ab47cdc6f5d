internal import Synchronization

/// The number of events dropped in all mailboxes of a hub, including mailboxes that are gone.
final class DropCounter: Sendable {
  // Relaxed: a statistic, from which no thread concludes anything about other memory.
  private let count = Atomic<Int>(0)

  func add(_ dropped: Int) {
    count.wrappingAdd(dropped, ordering: .relaxed)
  }

  var total: Int { count.load(ordering: .relaxed) }
}
