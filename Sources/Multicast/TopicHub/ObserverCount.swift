internal import Synchronization

/// The number of subscribers of all topics, including those that are about to be added.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ObserverCount: Sendable {
  // Relaxed: nothing is read because of it. A thread that knows that a subscriber was added finds
  // it counted, because that came before.
  private let count = Atomic<Int>(0)

  var isZero: Bool { count.load(ordering: .relaxed) == 0 }

  func add(_ difference: Int) {
    count.wrappingAdd(difference, ordering: .relaxed)
  }
}
