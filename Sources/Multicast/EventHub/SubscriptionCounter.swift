internal import Synchronization

/// The number of entries of a hub with one order, so that a sender need not take the writers' lock.
///
/// The registry keeps it, and subscriptions keep the registry. So it is not part of the sequencer,
/// whose events must not outlive the hub.
final class SubscriptionCounter: Sendable {
  // Relaxed: only a return value.
  private let count = Atomic<Int>(0)

  /// Counts entries that were added, or removed if negative.
  func add(_ difference: Int) {
    count.wrappingAdd(difference, ordering: .relaxed)
  }

  /// Never negative, although a removal may be counted before the addition.
  var total: Int { max(0, count.load(ordering: .relaxed)) }
}
