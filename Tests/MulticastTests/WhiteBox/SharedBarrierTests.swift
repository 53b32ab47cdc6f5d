import CMulticast
import MulticastTestSupport
import Testing

@testable import Multicast

/// Runs alone: other tests make barriers too.
@Suite("Concurrent callers share a heavy barrier")
struct SharedBarrierTests {
  @Test("a thousand tasks in cancelAndWait make at most ten calls")
  func tasks() async {
    let hub = MulticastDelegate<any Observing>()
    let registrations = (0..<1_000).map { _ in
      hub.add(RecordingObserver(), ownership: .strong)
    }
    let before = cmulticast_barrier_count()
    await withTaskGroup { group in
      for registration in registrations {
        group.addTask { await registration.cancelAndWait() }
      }
    }
    #expect(cmulticast_barrier_count() - before <= 10)
    #expect(registrations.allSatisfy { !$0.isActive })
  }

  @Test("a thousand threads in cancelAndWait make at most ten calls")
  func threads() {
    let hub = MulticastDelegate<any Observing>()
    let registrations = (0..<1_000).map { _ in
      hub.add(RecordingObserver(), ownership: .strong)
    }
    let barrier = StartBarrier(1_000)
    let before = cmulticast_barrier_count()
    runThreads(1_000) { index in
      barrier.arriveAndWait()
      _ = registrations[index].cancelAndWait(timeout: .seconds(60))
    }
    #expect(cmulticast_barrier_count() - before <= 10)
    #expect(registrations.allSatisfy { !$0.isActive })
  }

  @Test("a single caller makes one call for each cancelAndWait")
  func singleCaller() {
    let hub = MulticastDelegate<any Observing>()
    for _ in 0..<10 {
      let registration = hub.add(RecordingObserver(), ownership: .strong)
      let before = cmulticast_barrier_count()
      _ = registration.cancelAndWait(timeout: .seconds(60))
      #expect(cmulticast_barrier_count() - before == 1)
    }
  }
}
