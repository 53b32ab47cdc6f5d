import MulticastTestSupport
import Testing

@testable import Multicast

/// An actor that a test runs, of which several tasks await the next element of one iterator.
private actor SteppedTaker {
  nonisolated let executor = SteppedExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private let next: () async -> Int?
  private let journal: Journal
  nonisolated let begun = Counter()

  init(_ journal: Journal, _ next: sending @escaping () async -> Int?) {
    self.journal = journal
    self.next = next
  }

  /// Takes as many events, and yields after 256, which are as many as a reader reads at once.
  func take(_ count: Int = 1) async {
    begun.add()
    for index in 0..<count {
      if index == 256 { await Task.yield() }
      if let event = await next() { journal.record(event) }
    }
  }
}

/// The iterators that several tasks of one actor may share.
private enum SharedIterator: CaseIterable {
  case events
  case eventsWithNotes
  case positions
  case topicPositions

  /// A hub's `send`, and the `next` of an iterator over its events.
  func make() -> (send: @Sendable (Int) -> Void, next: () async -> Int?) {
    switch self {
    case .events:
      let hub = EventHub<Int>()
      let iterator = hub.events().makeAsyncIterator()
      return ({ hub.send($0) }, { await iterator.next() })
    case .eventsWithNotes:
      let hub = EventHub<Int>()
      let iterator = hub.events().notingDrops().makeAsyncIterator()
      return (
        { hub.send($0) },
        {
          var iterator = iterator
          guard case .event(let event) = await iterator.next() else { return nil }
          return event
        }
      )
    case .positions:
      let hub = EventHub<Int>(retention: .last(1000))
      let iterator = hub.events(from: .live).makeAsyncIterator()
      return (
        { hub.send($0) },
        {
          var iterator = iterator
          guard case .event(let event, _) = await iterator.next() else { return nil }
          return event
        }
      )
    case .topicPositions:
      let hub = TopicHub<String, Int>(retention: .last(1000))
      let iterator = hub.events(for: "topic", from: .live).makeAsyncIterator()
      return (
        { hub.send($0, to: "topic") },
        {
          var iterator = iterator
          guard case .event(let event, _) = await iterator.next() else { return nil }
          return event.event
        }
      )
    }
  }
}

/// A task that prefers a task executor leaves its actor where it awaits functions of the same actor, and
/// other tasks run there. Each test tries this after each number of steps.
@Suite("A task that prefers a task executor misses nothing while it is away from its actor")
struct TaskExecutorPreferenceTests {
  /// More steps than the task takes.
  private static let steps = 0..<16

  @Test("an invocation of a serialized hub begins after those before it", arguments: steps)
  func invocation(steps: Int) async {
    let executor = SteppedExecutor()
    let hub = AwaitingHub(serialized: true, executor: executor)
    let journal = Journal()
    let leave = AsyncGate()
    let (firstEnded, secondEnded) = (Counter(), Counter())
    let delegate = AwaitedObserver(0) { value in
      journal.record(value)
      guard value == 1 else { return }
      await leave.wait()
      journal.record(-value)
    }
    hub.add(delegate)
    let ends = await onOwnThread {
      Task(executorPreference: executor.preferred) {
        await hub.invoke { await $0.receive(1) }
        firstEnded.add()
      }
      while executor.runNewest() {}  // Now it waits inside the callback.
      Task(executorPreference: executor.preferred) {
        await hub.invoke { await $0.receive(2) }
        secondEnded.add()
      }
      for _ in 0..<steps { _ = executor.runNewest() }
      return executor.run(after: leave.open, until: { firstEnded.value == 1 })
        && executor.run(until: { secondEnded.value == 1 })
    }
    #expect(ends, "an invocation never ends")
    #expect(journal.entries == [1, -1, 2])
    withExtendedLifetime(delegate) {}
  }

  @Test(
    "an event that another task has taken and not returned", arguments: SharedIterator.allCases,
    steps.flatMap { [(steps: $0, isBefore: true), ($0, false)] })
  fileprivate func events(
    iterator: SharedIterator, _ moment: (steps: Int, isBefore: Bool)
  ) async {
    let (send, next) = iterator.make()
    let journal = Journal()
    let taker = SteppedTaker(journal, next)
    let executor = taker.executor
    let bothReceive = await onOwnThread {
      if moment.isBefore { for event in 1...2 { send(event) } }
      Task(executorPreference: executor.preferred) { await taker.take() }
      for _ in 0..<moment.steps { _ = executor.runNewest() }
      if !moment.isBefore { for event in 1...2 { send(event) } }
      return executor.run(
        after: { Task { await taker.take() } }, until: { !journal.entries.isEmpty })
        && executor.run(until: { journal.entries.count == 2 })
    }
    #expect(bothReceive, "the first task sleeps beside an event")
    #expect(journal.entries.sorted() == [1, 2])
  }
}

/// The same iterators, and tasks that stay on their actor.
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
  fileprivate func between(iterator: SharedIterator) async {
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
  fileprivate func manyEvents(iterator: SharedIterator) async {
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
}
