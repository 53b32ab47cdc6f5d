import Foundation
import Multicast
import MulticastTestSupport
import Testing

private struct Lost: Error {}

/// A sequence that always has another element until its task is cancelled.
private struct Endless: AsyncSequence {
  let begun: Counter

  struct AsyncIterator: AsyncIteratorProtocol {
    func next() async -> Int? { Task.isCancelled ? nil : 1 }
  }

  func makeAsyncIterator() -> AsyncIterator {
    begun.add()
    return AsyncIterator()
  }
}

/// A sequence of events that a test sends, which counts its iterations.
private final class Feed: AsyncSequence, Sendable {
  typealias Element = Int

  let hub = EventHub<Int>()
  let begun = Counter()
  let ended = Counter()
  let taken = Counter()

  struct Iterator: AsyncIteratorProtocol {
    let feed: Feed
    var base: EventSequence<Int>.Throwing.Iterator
    let token: Token

    mutating func next() async throws -> Int? {
      let element = try await base.next()
      if element != nil { feed.taken.add() }
      return element
    }
  }

  /// Counts the end of an iteration.
  final class Token: Sendable {
    let ended: Counter
    init(_ ended: Counter) { self.ended = ended }
    deinit { ended.add() }
  }

  func makeAsyncIterator() -> Iterator {
    let base = hub.events().throwingFailure().makeAsyncIterator()
    begun.add()
    return Iterator(feed: self, base: base, token: Token(ended))
  }
}

@Suite("A sequence as the source of a hub: iterated once, while there are subscribers")
struct SequenceSourceTests {
  @Test("it begins with the first subscriber, and each subscriber gets every element")
  func elements() async {
    let feed = Feed()
    let hub = feed.multicast()
    await Task.yield()
    #expect(feed.begun.value == 0 && feed.hub.subscriberCount == 0)
    let sequences = (0..<3).map { _ in hub.events() }
    await feed.hub.waitForSubscribers()
    for event in 0..<10 { feed.hub.send(event) }
    feed.hub.finish()
    for sequence in sequences {
      var events: [Int] = []
      for await event in sequence { events.append(event) }
      #expect(events == Array(0..<10))
    }
    #expect(feed.begun.value == 1 && hub.isFinished)
  }

  @Test(
    "an element that waits for a subscriber when the hub finishes is delivered", arguments: 0..<2)
  func finishDeliversWhatWaits(_ replay: Int) async {
    let feed = Feed()
    let hub = feed.multicast(replay: replay)
    let iterator = hub.events(buffering: .bounded(1, whenFull: .suspend)).makeAsyncIterator()
    await feed.hub.waitForSubscribers()
    for event in 0..<3 { feed.hub.send(event) }
    await eventually { hub.statistics.pending == 2 }
    hub.finish()
    var received: [Int] = []
    while let event = await iterator.next() { received.append(event) }
    #expect(received == [0, 1] && hub.statistics.dropped == 0)
  }

  @Test("no element is taken after the hub has finished, also while end actions run")
  func finishTakesNoMore() async {
    let feed = Feed()
    let hub = feed.multicast()
    let iterator = hub.events(buffering: .bounded(1, whenFull: .suspend)).makeAsyncIterator()
    let hasStopped = Guarded(false)
    let last = hub.subscribe(
      on: .sender, options: [noteWhether(feed, hasEndedIn: hasStopped)]
    ) { _ in }
    await feed.hub.waitForSubscribers()
    for event in 0..<5 { feed.hub.send(event) }
    await eventually { hub.statistics.pending == 2 }
    await onOwnThread { hub.finish() }
    #expect(hasStopped.withLock { $0 } && feed.taken.value == 2)
    withExtendedLifetime((iterator, last)) {}
  }

  @Test("a source that waits for an element when the hub finishes does not take it")
  func finishEndsTheWait() async {
    let feed = Feed()
    let hub = feed.multicast()
    let received = Counter()
    let hasStopped = Guarded(false)
    // Of two, so that the end of the first is not that of the last, which ends the iteration.
    let first = hub.subscribe(
      on: .sender, options: [noteWhether(feed, hasEndedIn: hasStopped)]
    ) { _ in received.add() }
    let second = hub.events()
    await feed.hub.waitForSubscribers()
    feed.hub.send(0)
    await eventually { received.value == 1 }
    await onOwnThread { hub.finish() }
    #expect(hasStopped.withLock { $0 } && feed.taken.value == 1)
    withExtendedLifetime((first, second)) {}
  }

  @Test("a subscriber that comes in an end action begins no iteration")
  func subscribingAtTheEnd() async {
    let begun = Counter()
    let hub = Endless(begun: begun).multicast()
    let later = Guarded<EventSequence<Int>?>(nil)
    let action = { @Sendable (_: SubscriptionEnd, _: (any Error)?) in
      let events = hub.events()
      later.withLock { $0 = events }
      _ = comesTrue(within: .milliseconds(200)) { begun.value > 1 }
    }
    let first = hub.subscribe(on: .sender, options: [.onEnd(action)]) { _ in }
    await eventually { begun.value == 1 }
    await onOwnThread { hub.finish() }
    #expect(begun.value == 1)
    withExtendedLifetime((first, later)) {}
  }

  /// An end action that waits until the iteration of `feed` has ended.
  private func noteWhether(
    _ feed: Feed, hasEndedIn hasEnded: Guarded<Bool>
  ) -> SubscriberOption<Int> {
    .onEnd { _, _ in
      let isTrue = comesTrue { feed.hub.subscriberCount == 0 }
      hasEnded.withLock { $0 = isTrue }
    }
  }

  /// Whether the condition comes true soon. Blocks the thread.
  private func comesTrue(
    within limit: Duration = .seconds(5), _ condition: @Sendable () -> Bool
  ) -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if condition() { return true }
      sched_yield()
    }
    return false
  }

  @Test("the hub finishes with the error of the sequence, and keeps the replay")
  func failure() async {
    let feed = Feed()
    let hub = feed.multicast(replay: 2)
    let sequence = hub.events().throwingFailure()
    await feed.hub.waitForSubscribers()
    for event in 0..<5 { feed.hub.send(event) }
    feed.hub.finish(throwing: Lost())
    var events: [Int] = []
    await #expect(throws: Lost.self) {
      for try await event in sequence { events.append(event) }
    }
    #expect(events == Array(0..<5) && hub.failure is Lost)
    var late: [Int] = []
    await #expect(throws: Lost.self) {
      for try await event in hub.events().throwingFailure() { late.append(event) }
    }
    #expect(late == [3, 4] && feed.begun.value == 1)
  }

  @Test("the last subscriber cancels it; the next one begins a new iteration after its end")
  func restart() async {
    let feed = Feed()
    let hub = feed.multicast()
    for round in 1...20 {
      let iterator = hub.events().makeAsyncIterator()
      await eventually { feed.begun.value == round }
      #expect(feed.ended.value == round - 1)
      feed.hub.send(round)
      #expect(await iterator.next() == round)
      #expect(!hub.isFinished)
    }
    await eventually { feed.ended.value == 20 }
    #expect(await feed.hub.waitForNoSubscribers())
    #expect(!hub.isFinished, "a cancelled iteration does not finish the hub")
  }

  @Test("released or finished, the hub cancels it, whatever subscribers still wait for")
  func noCycle() async {
    for finishes in [false, true] {
      let feed = Feed()
      weak var gone: EventHub<Int>?
      let sequence: EventSequence<Int>
      let subscription: EventSubscription
      do {
        let hub = feed.multicast()
        gone = hub
        sequence = hub.events()
        subscription = hub.subscribe { _ in }
        await feed.hub.waitForSubscribers()
        if finishes { hub.finish() }
      }
      #expect(gone == nil)
      await eventually { feed.ended.value == 1 }
      var count = 0
      for await _ in sequence { count += 1 }
      #expect(count == 0)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("a full buffer that suspends makes the sequence wait; nothing is dropped")
  func backpressure() async {
    let stream = AsyncStream<Int> { continuation in
      for element in 0..<100 { continuation.yield(element) }
      continuation.finish()
    }
    let hub = stream.multicast()
    let sequence = hub.events(buffering: .bounded(1, whenFull: .suspend))
    var events: [Int] = []
    for await event in sequence { events.append(event) }
    #expect(events == Array(0..<100) && hub.statistics.dropped == 0)
  }

  @Test("subscribers come and go on many threads: iterations never overlap")
  func race() async {
    let feed = Feed()
    let hub = feed.multicast()
    await onOwnThread {
      runThreads(4) { _ in
        for _ in 0..<200 { hub.subscribe { _ in }.cancel() }
      }
    }
    await eventually { feed.ended.value == feed.begun.value }
    #expect(await feed.hub.waitForNoSubscribers())
    let iterator = hub.events().makeAsyncIterator()
    // A cancelled iteration may still begin, and take an event, before the one of this iterator.
    let sender = Task {
      while !Task.isCancelled {
        feed.hub.send(7)
        await Task.yield()
      }
    }
    #expect(await iterator.next() == 7)
    sender.cancel()
  }
}

extension EventHub {
  /// Whether the hub refuses events.
  fileprivate var isFinished: Bool {
    subscribe { _ in }.end == .finished
  }
}
