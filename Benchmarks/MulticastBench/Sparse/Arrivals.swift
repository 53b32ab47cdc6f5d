internal import BenchmarkHarness
internal import Synchronization

/// What a consumer has received, and when.
final class Arrivals: Sendable {
  // Released by the consumer after the time, and acquired by the sender before it.
  private let sum = Atomic(0)
  private let nanoseconds = Atomic(0)
  private let recordsTime: Bool

  init(recordsTime: Bool) {
    self.recordsTime = recordsTime
  }

  func add(_ event: Int) {
    if recordsTime { nanoseconds.store(MonotonicClock.nanoseconds, ordering: .relaxed) }
    sum.wrappingAdd(event, ordering: .releasing)
  }

  /// The sum of the events.
  var received: Int { sum.load(ordering: .acquiring) }

  /// When the last one came.
  var time: Int { nanoseconds.load(ordering: .relaxed) }
}
