import Multicast
import MulticastTestSupport
import Testing

/// As the tests of events in `TaskExecutorPreferenceTests`, with tasks that stay on their actor.
@Suite("A task of an actor misses nothing that another task of the actor leaves")
struct SteppedIteratorTests {
  /// A taker, and two tasks that wait for events: the second one for `count`.
  private static func start(_ taker: SteppedTaker, _ count: Int = 1) -> Bool {
    Task { await taker.take() }
    guard taker.executor.run(until: { taker.begun.value == 1 }) else { return false }
    while taker.executor.runNewest() {}
    Task { await taker.take(count) }
    guard taker.executor.run(until: { taker.begun.value == 2 }) else { return false }
    while taker.executor.runNewest() {}
    return true
  }

  @Test("an event that is sent between two others' results", arguments: SharedIterator.allCases)
  func between(iterator: SharedIterator) async {
    let (send, next) = iterator.make()
    let journal = Journal()
    let taker = SteppedTaker(journal, next)
    let isReceived = await onOwnThread {
      guard Self.start(taker) else { return false }
      send(1)
      send(2)
      guard taker.executor.run(until: { journal.entries.count == 1 }) else { return false }
      send(3)
      guard taker.executor.run(until: { journal.entries.count == 2 }) else { return false }
      Task { await taker.take() }
      return taker.executor.run(until: { journal.entries.count == 3 })
    }
    #expect(isReceived, "the third task sleeps beside an event")
    #expect(journal.entries.sorted() == [1, 2, 3])
  }

  @Test("more events than are read at once", arguments: SharedIterator.allCases)
  func manyEvents(iterator: SharedIterator) async {
    let (send, next) = iterator.make()
    let journal = Journal()
    let taker = SteppedTaker(journal, next)
    let isReceived = await onOwnThread {
      guard Self.start(taker, 257) else { return false }
      for event in 1...300 { send(event) }
      guard taker.executor.run(until: { journal.entries.count >= 256 }) else { return false }
      // The first task, while the second one yields.
      _ = taker.executor.runOldest()
      return taker.executor.run(until: { journal.entries.count == 258 })
    }
    #expect(isReceived, "the first task sleeps beside events")
    #expect(journal.entries.sorted() == Array(1...258))
  }

  @Test("a wait whose time is over returns an event that another task has taken")
  func timedWait() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    let journal = Journal()
    let timedOut = Counter()
    let taker = SteppedTaker(journal) {
      guard case .event(let event) = await iterator.next(timeout: .milliseconds(1)) else {
        timedOut.add()
        return nil
      }
      return event
    }
    let executor = taker.executor
    let isReceived = await onOwnThread {
      // A task whose time is over before it has begun to wait ends in its first job.
      repeat {
        let begun = taker.begun.value
        Task { await taker.take() }
        guard executor.run(until: { taker.begun.value > begun }) else { return false }
      } while timedOut.value == taker.begun.value
      // Its time is over when it has a job again.
      executor.waitForJob()
      for event in 1...2 { hub.send(event) }
      return executor.run(
        after: { Task { await taker.take() } }, until: { journal.entries == [1] })
        && executor.run(until: { journal.entries.count == 2 })
    }
    #expect(isReceived, "it has timed out beside an event")
    #expect(journal.entries == [1, 2])
  }
}
