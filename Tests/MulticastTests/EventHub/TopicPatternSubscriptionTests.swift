import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private typealias Element = TopicEvent<String, Int>

@Suite("A subscription to a pattern of topics", .timeLimit(.minutes(10)))
struct TopicPatternSubscriptionTests {
  @Test(
    "gets each event of the topics that match, also of later ones and of those without subscribers",
    arguments: Ordering.allCases, StorageStrategy.allCases)
  func topics(ordering: Ordering, storage: StorageStrategy) async {
    let hub = TopicHub<String, Int>(ordering: ordering, storage: storage)
    let (journal, own) = (Journal(), Journal())
    let early = hub.subscribe(to: "a.b") { own.record($0) }
    #expect(hub.send(0, to: "a.b") == 1)
    let subscription = hub.subscribe(matching: "a.*") { element in
      journal.record(element.event)
      #expect(element.topic == (element.event < 10 ? "a.b" : "a.c"))
    }
    let sequence = hub.events(matching: "a.*")
    #expect(hub.patterns == ["a.*"] && hub.subscriberCount(matching: "a.*") == 2)
    #expect(hub.send(1, to: "a.b") == 3)
    #expect(hub.send(10, to: "a.c") == 2)
    let late = hub.subscribe(to: "a.c") { own.record($0) }
    #expect(hub.send(11, to: "a.c") == 3)
    #expect(hub.send(99, to: "a") == 0 && hub.send(99, to: "a.b.c") == 0)
    hub.send(contentsOf: [2, 3], to: "a.b")
    #expect(await hub.sendWaiting(4, to: "a.b"))
    #expect(await hub.sendWaiting(12, to: "a.c"))
    #expect(hub.trySend(5, to: "a.b"))
    hub.finish("a.b")
    #expect(hub.send(6, to: "a.b") == 2, "the end of a topic is not that of the subscription")
    #expect(hub.topicCount == 1 && hub.subscriberCount(for: "a.b") == 0)
    subscription.cancel()
    #expect(hub.send(7, to: "a.b") == 1)
    hub.finish()
    #expect(hub.send(8, to: "a.b") == 0)
    #expect(own.entries == [0, 1, 11, 2, 3, 4, 12, 5])
    var received: [Int] = []
    for await element in sequence { received.append(element.event) }
    #expect(received == [1, 10, 11, 2, 3, 4, 12, 5, 6, 7])
    #expect(journal.entries == [1, 10, 11, 2, 3, 4, 12, 5, 6])
    for await _ in hub.events(matching: ">") { Issue.record("an event after finish") }
    #expect(hub.subscribe(matching: ">") { _ in }.end == .finished)
    #expect(hub.patterns.isEmpty)
    withExtendedLifetime((early, late)) {}
  }

  @Test("the name of a topic is a pattern: both kinds of subscriber get its events")
  func name() {
    let hub = TopicHub<String, Int>()
    let journal = Journal()
    let both = [
      hub.subscribe(to: "a.b") { journal.record($0) },
      hub.subscribe(matching: "a.b") { journal.record(10 + $0.event) },
    ]
    #expect(hub.send(1, to: "a.b") == 2)
    #expect(hub.send(1, to: "a") == 0 && hub.send(1, to: "a.b.c") == 0)
    #expect(journal.entries.sorted() == [1, 11])
    withExtendedLifetime(both) {}
  }

  @Test(
    "of several patterns, gets each event once", arguments: Ordering.allCases,
    StorageStrategy.allCases)
  func several(ordering: Ordering, storage: StorageStrategy) async {
    let hub = TopicHub<String, Int>(ordering: ordering, storage: storage)
    let journal = Journal()
    let patterns: [TopicPattern] = ["a.*", "*.b", "a.b", "a.>", ">", "x"]
    let subscriptions = [
      hub.subscribe(matching: patterns) { journal.record($0.event) },
      hub.subscribe(matching: Array(patterns.reversed() + patterns)) { journal.record($0.event) },
      hub.subscribe(matching: ["a.*", "*.b"]) { journal.record($0.event) },
      hub.subscribe(matching: "a.*") { journal.record($0.event) },
      hub.subscribe(matching: [TopicPattern]()) { _ in Issue.record("an event of no pattern") },
    ]
    let sequence = hub.events(matching: ["a.b", "a.*", "y"])
    #expect(hub.patterns == Set(patterns + ["y"]))
    #expect(hub.subscriberCount(matching: "a.*") == 5)
    #expect(hub.subscriberCount(matching: "x") == 2)
    for (number, topic, count) in [(1, "a.b", 5), (2, "y", 3), (3, "c.b", 3)] {
      #expect(hub.subscriberCount(reaching: topic) == count)
      #expect(hub.send(number, to: topic) == count)
    }
    #expect(hub.subscriberCount(reaching: "d") == 2 && hub.subscriberCount(reaching: "a..b") == 0)
    do {
      let observer = hub.allTopics.subscribe { _ in }
      let one = hub.subscribe(to: "y") { _ in }
      #expect(hub.subscriberCount(reaching: "y") == 5 && hub.subscriberCount(reaching: "d") == 3)
      observer.cancel()
      one.cancel()
    }
    #expect(hub.subscriberCount(reaching: "y") == 3)
    #expect(journal.entries == [1, 1, 1, 1, 2, 2, 3, 3, 3])
    subscriptions[1].cancel()
    #expect(hub.send(4, to: "x") == 1)
    hub.finish()
    var received: [Element] = []
    for await element in sequence { received.append(element) }
    #expect(received == [Element(topic: "a.b", event: 1), Element(topic: "y", event: 2)])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("each place of a handler, for one pattern and for several")
  @MainActor func places() async {
    let hub = TopicHub<String, Int>()
    let (journal, queue) = (Journal(), DispatchQueue(label: "queue"))
    let (owner, actor) = (RecordingObserver(), Counter())
    let one: TopicPattern = "a.>"
    let several: [TopicPattern] = ["a.*", "a.b"]
    @Sendable func record(_ number: Int) -> @Sendable (Element) -> Void {
      { journal.record(100 * number + $0.event) }
    }
    let (on1, on2, on3, on4) = (record(1), record(2), record(3), record(4))
    let subscriptions: [EventSubscription] = [
      hub.subscribe(matching: one) { _ in MainActor.assertIsolated() },
      hub.subscribe(matching: several) { _ in MainActor.assertIsolated() },
      hub.subscribe(matching: one, on: .sender, on1),
      hub.subscribe(matching: several, on: .sender, on1),
      hub.subscribe(matching: one, on: .main) { on2($0) },
      hub.subscribe(matching: several, on: .main) { on2($0) },
      hub.subscribe(matching: one, on: queue, on3),
      hub.subscribe(matching: several, on: queue, on3),
      hub.subscribe(matching: one) { element in
        await Task.yield()
        on4(element)
      },
      hub.subscribe(matching: several) { element in
        await Task.yield()
        on4(element)
      },
      hub.subscribe(matching: one, with: owner) { owner, element in owner.receive(element.event) },
      hub.subscribe(matching: several, with: owner) { owner, element in
        owner.receive(element.event)
      },
      hub.subscribe(matching: one, with: owner, on: .sender) { $0.receive($1.event) },
      hub.subscribe(matching: several, with: owner, on: .sender) { $0.receive($1.event) },
      hub.subscribe(matching: one, with: owner, on: .main) { $0.receive($1.event) },
      hub.subscribe(matching: several, with: owner, on: .main) { $0.receive($1.event) },
      hub.subscribe(matching: one, with: owner, on: queue) { $0.receive($1.event) },
      hub.subscribe(matching: several, with: owner, on: queue) { $0.receive($1.event) },
      hub.subscribe(matching: one, with: owner) { owner, element in
        await Task.yield()
        owner.receive(element.event)
      },
      hub.subscribe(matching: several, with: owner) { owner, element in
        await Task.yield()
        owner.receive(element.event)
      },
      hub.subscribe(matching: one, with: actor) { actor, element in actor.count += 1 },
      hub.subscribe(matching: several, with: actor) { actor, element in actor.count += 1 },
      hub.subscribe(matching: one, with: actor) { actor, element in
        await Task.yield()
        actor.count += 1
      },
      hub.subscribe(matching: several, with: actor) { actor, element in
        await Task.yield()
        actor.count += 1
      },
      hub.subscribe(matching: one) { subscription, _ in subscription.cancel() },
      hub.subscribe(matching: several) { subscription, _ in subscription.cancel() },
      hub.subscribe(matching: one, on: queue) { subscription, _ in subscription.cancel() },
      hub.subscribe(matching: several, on: queue) { subscription, _ in subscription.cancel() },
      hub.subscribe(matching: one) { subscription, _ in
        await Task.yield()
        subscription.cancel()
      },
      hub.subscribe(matching: several) { subscription, _ in
        await Task.yield()
        subscription.cancel()
      },
    ]
    #expect(hub.send(7, to: "a.b") == subscriptions.count)
    await hub.flush()
    #expect(journal.entries.sorted() == [107, 107, 207, 207, 307, 307, 407, 407])
    #expect(owner.calls == 10)
    #expect(await actor.count == 4)
    #expect(subscriptions.suffix(6).allSatisfy { $0.end == .cancelled })
    #expect(hub.subscriberCount(matching: one) == 12)
    for subscription in subscriptions { subscription.cancel() }
    // A handler that has cancelled its subscription may still be removing its pattern.
    await eventually { hub.patterns.isEmpty }
    #expect(hub.send(8, to: "a.b") == 0)
  }

  @Test("filters, options, buffers and statistics are those of every subscription")
  func options() async {
    let hub = TopicHub<String, Int>(name: "sensors")
    let journal = Journal()
    let even = hub.subscribe(
      matching: "a.*", where: { $0.event.isMultiple(of: 2) }, options: [.first(2)]
    ) { journal.record($0.event) }
    let bounded = hub.events(
      matching: ["a.*", "a.b"], buffering: .bounded(2, whenFull: .dropOldest))
    let latest = hub.events(matching: "*.*", buffering: .coalescing(by: \.topic))
    #expect(hub.description.contains("topics: 0, patterns: 3, storage"))
    #expect(hub.statistics(matching: "a.*")?.subscribers == 2)
    #expect(hub.statistics(matching: "b") == nil)
    for event in 0..<6 { hub.send(event, to: event < 4 ? "a.b" : "a.c") }
    #expect(hub.statistics(matching: "a.b")?.dropped == 4)
    #expect(hub.statistics(matching: "a.*")?.pending == 2)
    #expect(even.end == .cancelled && journal.entries == [0, 2])
    async let first = hub.first(matching: "z.>") { $0.event > 1 }
    while hub.subscriberCount(matching: "z.>") == 0 { await Task.yield() }
    hub.send(1, to: "z.z")
    hub.send(2, to: "z.z")
    #expect(await first == Element(topic: "z.z", event: 2))
    #expect(hub.subscriberCount(matching: "z.>") == 0)
    hub.finish()
    var received: [Int] = []
    for await element in bounded { received.append(element.event) }
    #expect(received == [4, 5])
    received = []
    for await element in latest { received.append(element.event) }
    #expect(received == [3, 5, 2])
  }

  @Test("blocks, cancelSubscriptions and errors of the hub are its own")
  func hubWide() async throws {
    struct Lost: Error {}
    let hub = TopicHub<String, Int>()
    let all = hub.subscribe(matching: ">") { _ in }
    let one = hub.subscribe(matching: ["a", "b"]) { _ in }
    hub.withBlocked { #expect(hub.send(1, to: "a") == 0) }
    hub.cancelSubscriptions(to: "a")
    #expect(hub.send(1, to: "a") == 2)
    hub.cancelSubscriptions(matching: "b")
    #expect(one.end == .cancelled && all.isActive)
    hub.cancelSubscriptions()
    #expect(all.end == .cancelled && hub.send(1, to: "a") == 0)
    let last = hub.subscribe(matching: "*") { _ in }
    let sequence = hub.events(matching: "*").throwingFailure()
    hub.send(1, to: "a")
    hub.finish(throwing: Lost())
    #expect(last.end == .finished && last.failure is Lost)
    var iterator = sequence.makeAsyncIterator()
    #expect(try await iterator.next()?.event == 1)
    await #expect(throws: Lost.self) { try await iterator.next() }
    await #expect(throws: Lost.self) {
      for try await _ in hub.events(matching: "*").throwingFailure() {}
    }
  }

  @Test("flush waits for it", arguments: Ordering.allCases)
  func flushing(ordering: Ordering) async {
    let hub = TopicHub<String, Int>(ordering: ordering)
    let (journal, queue) = (Journal(), DispatchQueue(label: "queue"))
    let subscription = hub.subscribe(matching: "a.*", on: queue) { journal.record($0.event) }
    queue.suspend()
    hub.send(1, to: "a.b")
    #expect(!flush(hub, .zero))
    async let flushed: Void = hub.flush()
    queue.resume()
    await flushed
    #expect(journal.entries == [1])
    hub.send(2, to: "a.b")
    #expect(flush(hub, .seconds(100)))
    #expect(journal.entries == [1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test(
    "a sender that can wait waits for every full buffer", arguments: Ordering.allCases,
    [true, false])
  func waiting(ordering: Ordering, hasOwnSubscriber: Bool) async {
    let hub = TopicHub<String, Int>(ordering: ordering)
    let own = hasOwnSubscriber ? hub.events(for: "a.b") : nil
    let iterators = (["a.*", "*.b", "a.>"] as [TopicPattern]).map {
      hub.events(matching: $0, buffering: .bounded(1, whenFull: .suspend)).makeAsyncIterator()
    }
    let journal = Journal()
    let handler = hub.subscribe(matching: ["*.*", "a.b"]) { journal.record($0.event) }
    #expect(await hub.sendWaiting(1, to: "a.b"))
    async let second = hub.sendWaiting(2, to: "a.b")
    // The handler is called last, and the third event has another sender.
    await yieldTask(until: {
      iterators.allSatisfy { $0.statistics.pending == 2 } && journal.entries == [1, 2]
    })
    for iterator in iterators.dropLast() {
      #expect(await iterator.next()?.event == 1)
      #expect(await iterator.next()?.event == 2)
    }
    let third = Task { await hub.sendWaiting(3, to: "a.b") }
    await yieldTask(until: { iterators[2].statistics.pending == 3 })
    third.cancel()
    #expect(await !third.value, "it was dropped for one of them")
    #expect(await iterators[2].next()?.event == 1)
    #expect(await second)
    #expect(iterators.map(\.statistics.dropped) == [0, 0, 1])
    #expect(journal.entries == [1, 2, 3])
    hub.allTopics.finish()
    #expect(await hub.sendWaiting(4, to: "none"), "there is nothing to refuse")
    withExtendedLifetime((own, handler)) {}
  }

  private actor Counter {
    var count = 0
  }

  private func flush(_ hub: TopicHub<String, Int>, _ timeout: Duration) -> Bool {
    hub.flush(timeout: timeout)
  }
}
