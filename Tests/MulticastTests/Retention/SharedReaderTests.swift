import Multicast
import Testing

/// An actor, several tasks of which await the next elements of one iterator.
private actor Taker<Iterator> {
  private let iterator: Iterator
  private let next: @Sendable (inout Iterator, isolated any Actor) async -> [Int]?
  private(set) var received: [Int] = []
  private(set) var begun = 0

  /// - Parameter next: the next events, or `nil` at the end.
  init(
    _ iterator: sending Iterator,
    _ next: @escaping @Sendable (inout Iterator, isolated any Actor) async -> [Int]?
  ) {
    self.iterator = iterator
    self.next = next
  }

  /// Runs `body` while no task takes anything.
  func run(_ body: @Sendable () -> Void) { body() }

  func take() async -> [Int]? {
    var iterator = iterator
    return await next(&iterator, self)
  }

  func takeAll() async {
    begun += 1
    var iterator = iterator
    while let events = await next(&iterator, self) { received += events }
  }
}

@Suite("Tasks of one actor that await one iterator with positions: each event goes to one of them")
struct SharedReaderTests {
  private static let count = 1_000
  /// Most of them end while a task is behind.
  private static let rounds = 40

  /// - Parameter make: an iterator of a new hub, and how to send an event and to finish.
  private func law<Iterator>(
    _ make: () -> (Taker<Iterator>, send: @Sendable (Int) -> Void, finish: @Sendable () -> Void)
  ) async {
    for _ in 0..<Self.rounds {
      let (taker, send, finish) = make()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await taker.takeAll() } }
        group.addTask {
          for number in 0..<Self.count {
            send(number)
            if number % 16 == 0 { await Task.yield() }
          }
          finish()
        }
      }
      #expect(await taker.received.sorted() == Array(0..<Self.count))
    }
  }

  @Test("up to the end of an event hub")
  func events() async {
    await law {
      let hub = EventHub<Int>(retention: .all)
      let taker = Taker(hub.events(from: .live).makeAsyncIterator()) { iterator, actor in
        await iterator.next(isolation: actor).map { [$0.event!] }
      }
      return (taker, { hub.send($0) }, { hub.finish() })
    }
  }

  @Test("in batches")
  func batches() async {
    await law {
      let hub = EventHub<Int>(retention: .all)
      let batches = hub.events(from: .live).batches(upTo: 16)
      let taker = Taker(batches.makeAsyncIterator()) { iterator, actor in
        await iterator.next(isolation: actor)?.events
      }
      return (taker, { hub.send($0) }, { hub.finish() })
    }
  }

  @Test("up to the end of a hub of topics, or of the topics", arguments: [false, true])
  func topics(finishesTopics: Bool) async {
    await law {
      let hub = TopicHub<String, Int>(retention: .last(Self.count))
      let sequence = hub.events(for: ["a", "b"], from: .live)
      return (
        Taker(sequence.makeAsyncIterator(), Self.next),
        { hub.send($0, to: $0 % 2 == 0 ? "a" : "b") },
        {
          guard finishesTopics else { return hub.finish() }
          hub.finish("a")
          hub.finish("b")
        }
      )
    }
  }

  @Test("a task that finds the end leaves the rest to one that is behind")
  func behind() async {
    for _ in 0..<10 {
      let hub = TopicHub<String, Int>(retention: .last(Self.count))
      let taker = Taker(hub.events(for: "a", from: .live).makeAsyncIterator(), Self.next)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await taker.takeAll() } }
        while await taker.begun < 3 { await Task.yield() }
        for _ in 0..<10 { await Task.yield() }
        // They sleep, and each is woken when everything was sent.
        await taker.run {
          for number in 0..<Self.count { hub.send(number, to: "a") }
          hub.finish()
        }
      }
      #expect(await taker.received.sorted() == Array(0..<Self.count))
    }
  }

  @Test("a task that is cancelled after the end of the hub ends it for the others, too")
  func cancelledAfterTheEnd() async {
    // More than is read at once.
    let hub = EventHub<Int>(retention: .all)
    let events = Taker(hub.events(from: .live).makeAsyncIterator()) { iterator, actor in
      await iterator.next(isolation: actor).map { $0.event.map { [$0] } ?? [] }
    }
    let batched = Taker(hub.events(from: .live).batches(upTo: 16).makeAsyncIterator()) {
      await $0.next(isolation: $1)?.events
    }
    let topics = TopicHub<String, Int>(retention: .last(Self.count))
    let named = Taker(topics.events(for: "a", from: .live).makeAsyncIterator(), Self.next)
    let matching = Taker(topics.events(matching: ["*"], from: .live).makeAsyncIterator(), Self.next)
    for number in 0..<Self.count {
      hub.send(number)
      topics.send(number, to: "a")
    }
    hub.finish()
    topics.finish()
    await Self.expectEnd(events, after: [0])
    await Self.expectEnd(batched, after: Array(0..<16))
    await Self.expectEnd(named, after: [0])
    await Self.expectEnd(matching, after: [0])
  }

  private static func expectEnd<Iterator>(_ taker: Taker<Iterator>, after first: [Int]) async {
    #expect(await taker.take() == first)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await taker.take()
    }
    #expect(await cancelled.value == nil)
    #expect(await taker.take() == nil)
  }

  @Test("of patterns")
  func patterns() async {
    await law {
      let hub = TopicHub<String, Int>(retention: .last(Self.count))
      let sequence = hub.events(matching: ["*"], from: .live)
      return (
        Taker(sequence.makeAsyncIterator(), Self.next), { hub.send($0, to: "a") }, { hub.finish() }
      )
    }
  }

  @Sendable private static func next(
    _ iterator: inout PositionedTopicSequence<Int>.Iterator, on actor: isolated any Actor
  ) async -> [Int]? {
    await iterator.next(isolation: actor).map { element in
      if case .event(let event, at: _) = element { [event.event] } else { [] }
    }
  }
}
