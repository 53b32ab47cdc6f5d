import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

private struct Failure: Error, Equatable {
  let number: Int
}

@Suite("Completion")
struct CompletionTests {
  @Test("of threads that finish at once one decides, and each returns when the end is published")
  func concurrently() {
    for round in 0..<500 {
      let flag = HubState()
      let decided = Guarded<[Int]>([])
      runThreads(3) { thread in
        if flag.complete(thread == 0 ? nil : Failure(number: thread)) {
          decided.withLock { $0.append(thread) }
        }
        if !flag.isRaised.load(ordering: .sequentiallyConsistent) || flag.isOpen {
          Issue.record("finish has returned, and the end is not published (round \(round))")
        }
      }
      let first = decided.withLock { $0 }
      #expect(first.count == 1)
      let expected = first == [0] ? nil : first.first.map { Failure(number: $0) }
      #expect(flag.failure as? Failure == expected)
    }
  }

  @Test("a thread that reads the error finds the end published")
  func errorAfterEnd() {
    for _ in 0..<500 {
      let flag = HubState()
      runThreads(2) { thread in
        if thread == 0 {
          _ = flag.complete(Failure(number: 1))
        } else if flag.failure != nil, flag.isOpen {
          Issue.record("the hub has failed, and is open")
        }
      }
      #expect(flag.failure as? Failure == Failure(number: 1))
    }
  }

  @Test("an error that came too late is destroyed, and the first one with the hub")
  func lifetimes() {
    final class Failure: Error {
      let target: RecordingObserver
      init(_ tracker: LifetimeTracker) { target = RecordingObserver(tracker: tracker) }
    }
    let tracker = LifetimeTracker()
    var flag: HubState? = HubState()
    #expect(flag!.complete(Failure(tracker)))
    #expect(!flag!.complete(Failure(tracker)))
    #expect(!flag!.complete(nil))
    #expect(tracker.live == 1)
    #expect(flag!.failure is Failure)
    flag = nil
    #expect(tracker.live == 0)
  }
}
