// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("Promise 1: an invocation calls the delegates registered when it began")
struct InvocationLaws {
  @Test(
    "in registration order, each exactly once",
    arguments: StorageStrategy.allCases, [0, 1, 2, 4, 5, 31, 32, 33, 100])
  func inRegistrationOrderEachExactlyOnce(storage: StorageStrategy, size: Int) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<size).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    let expected = Array(0..<size)
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == expected)
    #expect(hub.invoke { $0.receive(1) } == size)
    #expect(journal.take() == expected)
    #expect(hub.results { $0.id }.map { $0.get() } == expected)
    #expect(hub.map(\.id) == expected)
  }

  @Test(
    "one added during an invocation waits for the next one", arguments: StorageStrategy.allCases)
  func oneAddedMeanwhileWaits(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let first = RecordingObserver(1, journal: journal)
    // Enough to make the list grow, more than once, while it is being read.
    let late = (100..<200).map { RecordingObserver($0, journal: journal) }
    hub += first
    hub.forEach { delegate in
      delegate.receive(1)
      for delegate in late { hub += delegate }
    }
    #expect(journal.take() == [1])
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [1] + Array(100..<200))
  }

  @Test(
    "one added by another thread waits too", arguments: StorageStrategy.allCases)
  func oneAddedByAnotherThreadWaits(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    let late = (10..<30).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    let inside = Gate("inside the first callback")
    let added = Gate("added")
    runConcurrently {
      hub.forEach { delegate in
        inside.open()
        added.wait()
        delegate.receive(1)
      }
    } and: {
      inside.wait()
      for delegate in late { hub += delegate }
      added.open()
    }
    #expect(journal.take() == [0, 1, 2])
    #expect(hub.count == 23)
  }

  @Test(
    "an add that returned before the invocation began is always seen",
    arguments: StorageStrategy.allCases)
  func anAddThatReturnedIsAlwaysSeen(storage: StorageStrategy) {
    let rounds = 2_000
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<rounds).map { RecordingObserver($0) }
    let added = Atomic<Int>(0)
    let missed = Atomic<Int>(0)
    let invocations = Atomic<Int>(0)
    runConcurrently {
      for delegate in delegates {
        hub.add(delegate)
        // The window slides, so that the list is compacted, too.
        if delegate.id >= 8 { hub.remove(delegates[delegate.id - 8]) }
        added.store(delegate.id + 1, ordering: .releasing)
      }
    } and: {
      while true {
        let known = added.load(ordering: .acquiring)
        var newest = -1
        hub.forEach { newest = max(newest, $0.id) }
        // A reader that the removals overtook may find less.
        let overtaken = added.load(ordering: .acquiring) > known + 6
        if newest < known - 1 && !overtaken { missed.add(1, ordering: .relaxed) }
        invocations.add(1, ordering: .relaxed)
        if known == rounds { break }
      }
    }
    let (misses, total) = (missed.load(ordering: .relaxed), invocations.load(ordering: .relaxed))
    #expect(misses == 0, "of \(total) invocations")
    #expect(hub.map(\.id) == Array(rounds - 8..<rounds))
  }

  @Test(
    "invocations of several threads call every delegate once each",
    arguments: StorageStrategy.allCases)
  func everyInvocationOfEveryThreadCallsEachOnce(storage: StorageStrategy) {
    let (threads, rounds, size) = (4, 500, 10)
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<size).map { RecordingObserver($0) }
    for delegate in delegates { hub += delegate }
    let barrier = StartBarrier(threads)
    let called = Atomic<Int>(0)
    runThreads(threads) { _ in
      barrier.arriveAndWait()
      for _ in 0..<rounds {
        called.add(hub.invoke { $0.receive(1) }, ordering: .relaxed)
      }
    }
    let calls = called.load(ordering: .relaxed)
    #expect(calls == threads * rounds * size)
    #expect(delegates.allSatisfy { $0.calls == threads * rounds })
  }
}
