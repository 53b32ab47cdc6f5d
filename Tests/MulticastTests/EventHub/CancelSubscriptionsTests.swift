import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("All subscriptions end without the end of the hub", .timeLimit(.minutes(10)))
struct CancelSubscriptionsTests {
  @Test(
    "handlers, queues and sequences end as cancelled, and the hub goes on",
    arguments: StorageStrategy.allCases, [0, 2])
  func everyKind(storage: StorageStrategy, replay: Int) async {
    let hub = EventHub<Int>(replay: replay, storage: storage)
    let journal = Journal()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let owner = RecordingObserver()
    let subscriptions = [
      hub.subscribe { journal.record($0) },
      hub.subscribe(on: queue) { _ in Issue.record("a discarded event was delivered") },
      hub.subscribe(with: owner) { $0.receive($1) },
    ]
    let sequence = hub.events()
    let taken = hub.events().makeAsyncIterator()
    hub.send(1)
    #expect(await taken.next() == 1)
    hub.send(2)
    hub.cancelSubscriptions()
    hub.cancelSubscriptions()
    #expect(hub.subscriberCount == 0)
    #expect(hub.send(3) == 0)
    #expect(hub.statistics.refused == 0)
    queue.resume()
    await withCheckedContinuation { done in queue.async { done.resume() } }
    #expect(journal.entries == [1, 2])
    #expect(owner.calls == 2)
    for subscription in subscriptions {
      #expect(!subscription.isActive && subscription.end == .cancelled)
    }
    #expect(subscriptions[1].statistics?.discarded == 2)
    #expect(await taken.next() == nil)
    #expect(taken.end == .cancelled)
    let iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .cancelled)
    // The hub goes on.
    let later = Journal()
    let subscription = hub.subscribe { later.record($0) }
    hub.send(4)
    #expect(later.entries == [2, 3].suffix(replay) + [4])
    #expect(hub.subscriberCount == 1)
    hub.finish()
    #expect(subscription.end == .finished)
    for subscription in subscriptions {
      #expect(subscription.end == .cancelled, "the end of the hub came later")
    }
  }

  @Test("a flush does not wait for a consumer that does not ask again", arguments: [false, true])
  @MainActor
  func flushOfAStalledConsumer(isTotal: Bool) async {
    for round in 0..<50 {
      let hub = EventHub<Int>(ordering: isTotal ? .total : .perSender)
      let iterator = hub.events().makeAsyncIterator()
      for event in 1...2 { hub.send(event) }
      // Another task receives the first event, and ends.
      await Task { @MainActor in #expect(await iterator.next() == 1) }.value
      let flushing = Task.detached { await hub.flush() }
      for _ in 0..<round { await Task.yield() }
      hub.cancelSubscriptions()
      await flushing.value
      #expect(await iterator.next() == nil)
    }
  }

  @Test("what an iterator has taken and not returned is discarded too", arguments: 0...5)
  func takenEvents(kind: Int) async {
    let hub = EventHub<Int>(retention: .last(10))
    let limited = hub.events(buffering: .bounded(5, whenFull: .dropOldest))
    let (plain, positioned) = (hub.events(), hub.events(from: .live))
    let bounded = limited.makeAsyncIterator()
    let iterator = plain.makeAsyncIterator()
    var positions = positioned.makeAsyncIterator()
    var noting = hub.events().notingDrops().makeAsyncIterator()
    for event in 1...3 { hub.send(event) }
    let next: () async -> Bool
    switch kind {
    case 0: next = { await iterator.next() != nil }
    case 1: next = { iterator.nextIfAvailable() != nil }
    case 2: next = { await bounded.next() != nil }
    case 3: next = { await positions.next() != nil }
    case 4: next = { await noting.next() != nil }
    default:
      next = {
        if case .event = await iterator.next(timeout: .seconds(60)) { true } else { false }
      }
    }
    #expect(await next())
    hub.cancelSubscriptions()
    #expect(await !next())
    #expect(await !next())
  }

  @Test("an end that is read after the end of the hub only is that of the subscription")
  func endReadLate() {
    let hub = EventHub<Int>()
    let cancelled = hub.subscribe { _ in }
    hub.cancelSubscriptions()
    var owner: RecordingObserver? = RecordingObserver()
    let owned = hub.subscribe(with: owner!) { $0.receive($1) }
    owner = nil
    let finished = hub.subscribe { _ in }
    hub.finish()
    #expect(cancelled.end == .cancelled)
    #expect(owned.end == .cancelled)
    #expect(finished.end == .finished)
    finished.cancel()
    hub.cancelSubscriptions()
    #expect(finished.end == .finished)
  }

  @Test("after the end of the hub: what waits in buffers is discarded, and what was taken is not")
  func afterTheEnd() async {
    let hub = EventHub<Int>(retention: .last(10))
    let topics = TopicHub<String, Int>(retention: .last(10))
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let journal = Journal()
    let onEnd = SubscriberOption<Int>.onEnd { _, _ in
      Issue.record("called after a cancellation")
    }
    let subscription = hub.subscribe(on: queue, options: [onEnd]) { _ in
      Issue.record("a discarded event was delivered")
    }
    let handler = topics.subscribe(to: ["a"], from: .live, on: queue) { element in
      if case .event(let event, _) = element { journal.record(event.event) }
    }
    let (plain, waiting, positioned) = (hub.events(), hub.events(), hub.events(from: .live))
    let sequence = topics.events(for: ["a"], from: .live)
    let iterator = plain.makeAsyncIterator()
    for event in 1...3 {
      hub.send(event)
      topics.send(event, to: "a")
    }
    #expect(await iterator.next() == 1)
    hub.finish()
    topics.finish()
    hub.cancelSubscriptions()
    topics.cancelSubscriptions()
    for expected in [2, 3, nil] { #expect(await iterator.next() == expected) }
    let discarded = waiting.makeAsyncIterator()
    #expect(await discarded.next() == nil)
    var received: [Int] = []
    for await element in positioned { if let event = element.event { received.append(event) } }
    for await element in sequence { if let event = element.event { received.append(event.event) } }
    #expect(received == [1, 2, 3, 1, 2, 3])
    queue.resume()
    await eventually { !handler.isActive }
    #expect(journal.entries == [1, 2, 3])
    #expect(subscription.end == .finished && handler.end == .finished)
    #expect(iterator.end == .finished && discarded.end == .finished)
  }

  @Test("after the end of a topic, or of the hub of topics, too", arguments: [false, true])
  func afterTheEndOfTopics(_ endsHub: Bool) async {
    let hub = TopicHub<String, Int>()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let onEnd = SubscriberOption<Int>.onEnd { _, _ in
      Issue.record("called after a cancellation")
    }
    let subscription = hub.subscribe(to: "a", on: queue, options: [onEnd]) { _ in
      Issue.record("a discarded event was delivered")
    }
    let iterator = hub.events(for: "a").makeAsyncIterator()
    hub.send(1, to: "a")
    if endsHub { hub.finish() } else { hub.finish("a") }
    hub.cancelSubscriptions()
    #expect(await iterator.next() == nil)
    queue.resume()
    await eventually { !subscription.isActive }
    queue.sync {}
    #expect(subscription.end == .finished)
  }

  @Test(
    "inside a handler: the later handlers are not called with the event",
    arguments: StorageStrategy.allCases)
  func insideAHandler(storage: StorageStrategy) {
    let hub = EventHub<Int>(storage: storage)
    let journal = Journal()
    let subscriptions = [
      hub.subscribe { [weak hub] event in
        journal.record(event)
        hub?.cancelSubscriptions()
      },
      hub.subscribe { _ in Issue.record("called after its end") },
    ]
    #expect(hub.send(1) == 1)
    #expect(hub.send(2) == 0)
    #expect(journal.entries == [1])
    #expect(subscriptions.allSatisfy { $0.end == .cancelled })
  }

  @Test("a sleeping consumer is woken, and the last subscriber's hook runs once")
  func sleepingConsumer() async {
    let (first, last) = (Counter(), Counter())
    let hub = EventHub<Int>(
      onFirstSubscriber: { first.add() }, onLastSubscriber: { last.add() })
    let sequence = hub.events()
    async let received = sequence.makeAsyncIterator().next()
    let more = (0..<3).map { _ in hub.subscribe { _ in } }
    hub.cancelSubscriptions()
    #expect(await received == nil)
    #expect(first.value == 1 && last.value == 1)
    withExtendedLifetime(more) {}
  }

  @Test("a sender that waits for space is released, and learns that nothing was lost")
  func waitingSender() async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .bounded(1, whenFull: .suspend))
    hub.send(1)
    async let isComplete = hub.sendWaiting(2)
    await eventually { hub.statistics.pending == 2 }
    hub.cancelSubscriptions()
    #expect(await isComplete)
    withExtendedLifetime(sequence) {}
  }

  @Test("topics: one, or all of them, and later subscribers begin them again")
  func topics() async {
    let hub = TopicHub<String, Int>()
    let journal = Journal()
    let subscriptions = ["a", "b", "b"].map { hub.subscribe(to: $0) { journal.record($0) } }
    let sequence = hub.events(for: "a")
    hub.cancelSubscriptions(to: "none")
    hub.cancelSubscriptions(to: "a")
    #expect(hub.topicCount == 1)
    #expect(hub.send(1, to: "a") == 0)
    #expect(hub.send(2, to: "b") == 2)
    #expect(subscriptions.map(\.end) == [.cancelled, nil, nil])
    let iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .cancelled)
    hub.cancelSubscriptions()
    #expect(hub.topicCount == 0)
    #expect(subscriptions.allSatisfy { $0.end == .cancelled })
    let again = hub.subscribe(to: "a") { journal.record($0) }
    #expect(hub.send(3, to: "a") == 1)
    #expect(journal.entries == [2, 2, 3])
    withExtendedLifetime(again) {}
  }

  @Test("while others subscribe and send: each ended subscription gets nothing more")
  func racing() {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<Int>()
      let calls = Counter()
      runThreads(4) { index in
        for round in 0..<1000 {
          switch index {
          case 0: hub.cancelSubscriptions()
          case 1: hub.send(round)
          default:
            let owner = RecordingObserver(tracker: tracker)
            let subscription = hub.subscribe(with: owner) { owner, event in
              owner.receive(event)
              calls.add()
            }
            subscription.cancelAndWait(timeout: .seconds(300))
            owner.poison()
          }
        }
      }
      hub.cancelSubscriptions()
      #expect(hub.subscriberCount == 0)
    }
    #expect(tracker.lateCalls == 0)
    #expect(tracker.created == 2000 && tracker.live == 0)
  }
}
