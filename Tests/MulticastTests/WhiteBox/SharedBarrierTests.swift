import CMulticast
import MulticastTestSupport
import Testing

@testable import Multicast

/// The count is that of the process, and how many callers share a barrier depends on how fast they
/// come: other tests, and a busy machine, only make it higher. So the lowest of some runs counts,
/// less one barrier for each time that the run lasted as long as a caller waits for others at most.
@Suite("Concurrent callers share a heavy barrier", .serialized)
struct SharedBarrierTests {
  /// Beside many other tests hardly any run of the first ones is undisturbed.
  private static let runs = 300
  /// Instrumented by the thread sanitizer, callers come too slowly to expect each other.
  private static let limit = cmulticast_is_thread_sanitized ? 500 : 10

  private func registrations(_ count: Int) -> [Registration<any Observing>] {
    let hub = MulticastDelegate<any Observing>()
    return (0..<count).map { _ in hub.add(RecordingObserver(), ownership: .strong) }
  }

  @Test("a thousand tasks in cancelAndWait make at most ten calls")
  func tasks() async {
    var fewest = Int.max
    for _ in 0..<Self.runs where fewest > Self.limit {
      let registrations = registrations(1_000)
      let calls = BarrierCalls()
      await withTaskGroup { group in
        for registration in registrations {
          group.addTask { await registration.cancelAndWait() }
        }
      }
      fewest = min(fewest, calls.sharable)
      #expect(registrations.allSatisfy { !$0.isActive })
    }
    #expect(fewest <= Self.limit)
  }

  @Test("a thousand threads in cancelAndWait make at most ten calls")
  func threads() {
    var fewest = Int.max
    for _ in 0..<Self.runs where fewest > Self.limit {
      let registrations = registrations(1_000)
      let barrier = StartBarrier(1_000)
      let calls = BarrierCalls()
      runThreads(1_000) { index in
        barrier.arriveAndWait()
        _ = registrations[index].cancelAndWait(timeout: .seconds(60))
      }
      fewest = min(fewest, calls.sharable)
      #expect(registrations.allSatisfy { !$0.isActive })
    }
    #expect(fewest <= Self.limit)
  }

  @Test("a single caller makes one call for each cancelAndWait")
  func singleCaller() {
    var fewest = Int.max
    for _ in 0..<Self.runs where fewest > 1 {
      for registration in registrations(10) {
        let calls = BarrierCalls()
        _ = registration.cancelAndWait(timeout: .seconds(60))
        fewest = min(fewest, calls.count)
      }
    }
    #expect(fewest == 1)
  }
}

/// The barriers since its creation.
private struct BarrierCalls {
  private let before = cmulticast_barrier_count()
  private let began = ContinuousClock.now

  var count: Int { Int(cmulticast_barrier_count() - before) }

  /// Those that callers could have shared: however many come, none waits longer than `patience`.
  var sharable: Int {
    count - Int((ContinuousClock.now - began) / .nanoseconds(SharedBarrier.patience))
  }
}
