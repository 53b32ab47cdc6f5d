import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private typealias Element = TopicEvent<String, Int>

@Suite("One subscription to all topics", .timeLimit(.minutes(10)))
struct AllTopicsTests {
  @Test(
    "gets each event with its topic: of topics that begin later, and of those without subscribers",
    arguments: Ordering.allCases, StorageStrategy.allCases)
  func everyTopic(ordering: Ordering, storage: StorageStrategy) async {
    let hub = TopicHub<String, Int>(ordering: ordering, storage: storage)
    let (all, own) = (Journal(), Journal())
    let early = hub.subscribe(to: "a") { own.record($0) }
    #expect(hub.send(0, to: "a") == 1)
    let subscription = hub.allTopics.subscribe { element in
      all.record(element.event)
      #expect(element.topic == (element.event < 10 ? "a" : element.event < 20 ? "b" : "c"))
    }
    let sequence = hub.allTopics.events()
    #expect(hub.send(1, to: "a") == 3)
    let late = hub.subscribe(to: "b") { own.record($0) }
    #expect(hub.send(10, to: "b") == 3)
    #expect(hub.send(20, to: "c") == 2, "the topic has no subscriber of its own")
    hub.send(contentsOf: [2, 3], to: "a")
    hub.send(contentsOf: [21, 22], to: "c")
    #expect(await hub.sendWaiting(4, to: "a"))
    #expect(await hub.sendWaiting(23, to: "c"))
    #expect(all.entries == [1, 10, 20, 2, 3, 21, 22, 4, 23])
    #expect(own.entries == [0, 1, 10, 2, 3, 4])
    #expect(hub.topicCount == 2)
    #expect(hub.subscriberCount(for: "a") == 1 && hub.subscriberCount(for: "c") == 0)
    hub.finish("a")
    #expect(hub.send(5, to: "a") == 2, "the end of a topic is not that of the subscription")
    subscription.cancel()
    #expect(hub.send(6, to: "a") == 1)
    hub.finish()
    #expect(hub.send(7, to: "a") == 0)
    var received: [Int] = []
    for await element in sequence { received.append(element.event) }
    #expect(received == [1, 10, 20, 2, 3, 21, 22, 4, 23, 5, 6])
    for await _ in hub.allTopics.events() { Issue.record("an event after finish") }
    #expect(hub.allTopics.subscribe { _ in }.end == .finished)
    withExtendedLifetime((early, late)) {}
  }

  @Test("filters, buffers, queues and owners are those of every subscription")
  func options() async {
    let hub = TopicHub<String, Int>()
    let queue = DispatchQueue(label: "queue")
    let (journal, owned) = (Journal(), Journal())
    let latest = hub.allTopics.events(buffering: .coalescing(by: \.topic))
    let even = hub.allTopics.subscribe(
      on: queue, where: { $0.topic == "a" && $0.event.isMultiple(of: 2) }
    ) { journal.record($0.event) }
    var owner: RecordingObserver? = RecordingObserver()
    hub.allTopics.subscribe(with: owner!, where: { $0.event > 2 }) { owner, element in
      owner.receive(element.event)
      owned.record(element.event)
    }
    for event in 0..<6 { hub.send(event, to: event < 4 ? "a" : "b") }
    owner = nil
    hub.finish()
    await eventually { even.end == .finished && !even.isActive }
    #expect(journal.entries == [0, 2])
    #expect(owned.entries == [3, 4, 5])
    var received: [Element] = []
    for await element in latest { received.append(element) }
    #expect(received == [Element(topic: "a", event: 3), Element(topic: "b", event: 5)])
  }

  @Test(
    "an event that a handler sends follows the current one in every buffer, of both kinds",
    arguments: Ordering.allCases, StorageStrategy.allCases)
  func nested(ordering: Ordering, storage: StorageStrategy) async {
    let hub = TopicHub<String, Int>(ordering: ordering, storage: storage)
    let own = hub.subscribe(to: "a") { [weak hub] event in
      if event < 10 { hub?.send(event + 10, to: "a") }
    }
    let all = hub.allTopics.subscribe { [weak hub] element in
      if element.event < 10 { hub?.send(element.event + 20, to: "a") }
    }
    let (sequence, ofAll) = (hub.events(for: "a"), hub.allTopics.events())
    hub.send(1, to: "a")
    hub.send(2, to: "a")
    hub.finish()
    var events: [Int] = []
    for await event in sequence { events.append(event) }
    var eventsOfAll: [Int] = []
    for await element in ofAll { eventsOfAll.append(element.event) }
    #expect(events == eventsOfAll)
    #expect(events.count == 6 && events.first == 1)
    #expect(events.firstIndex(of: 2)! == 3)
    withExtendedLifetime((own, all)) {}
  }

  @Test(
    "also if the topic has subscribers of one kind, and with trySend", arguments: Ordering.allCases,
    [false, true])
  func nestedOneKind(ordering: Ordering, tries: Bool) async {
    func send(_ event: Int, through hub: TopicHub<String, Int>) {
      if tries { #expect(hub.trySend(event, to: "a")) } else { hub.send(event, to: "a") }
    }
    for hasSequence in [false, true] {
      let hub = TopicHub<String, Int>(ordering: ordering)
      let handler = hub.subscribe(to: "a") { [weak hub] event in
        if event < 10 { hub?.send(event + 10, to: "a") }
      }
      let sequence = hasSequence ? hub.events(for: "a") : nil
      let (ofAll, ofPattern) = (hub.allTopics.events(), hub.events(matching: "*"))
      send(1, through: hub)
      send(2, through: hub)
      hub.finish()
      if let sequence {
        #expect(await sequence.reduce(into: []) { $0.append($1) } == [1, 11, 2, 12])
      }
      #expect(await ofAll.reduce(into: []) { $0.append($1.event) } == [1, 11, 2, 12])
      #expect(await ofPattern.reduce(into: []) { $0.append($1.event) } == [1, 11, 2, 12])
      withExtendedLifetime(handler) {}
    }
    let hub = TopicHub<String, Int>(ordering: ordering)
    let sequence = hub.events(for: "a")
    let ofAll = hub.allTopics.subscribe { [weak hub] element in
      if element.event < 10 { hub?.send(element.event + 10, to: "a") }
    }
    send(1, through: hub)
    send(2, through: hub)
    hub.finish()
    #expect(await sequence.reduce(into: []) { $0.append($1) } == [1, 11, 2, 12])
    withExtendedLifetime(ofAll) {}
  }

  @Test("a handler that is added inside another does not get the current event")
  func addedInside() {
    let hub = TopicHub<String, Int>()
    let journal = Journal()
    let added = Holder<EventSubscription>(nil)
    let own = hub.subscribe(to: "a") { _ in }
    let buffered = hub.events(for: "a")
    let all = hub.allTopics.subscribe { [weak hub] _ in
      added.value = hub?.subscribe(to: "a") { journal.record($0) }
    }
    hub.send(1, to: "a")
    #expect(journal.entries.isEmpty)
    hub.send(2, to: "a")
    #expect(journal.entries == [2] || journal.entries.isEmpty)
    withExtendedLifetime((own, buffered, all)) {}
  }

  @Test(
    "the order of each topic is that of its subscribers: total order, several senders",
    arguments: StorageStrategy.allCases)
  func totalOrder(storage: StorageStrategy) async {
    let hub = TopicHub<Int, Int>(ordering: .total, storage: storage)
    let sequences = (0..<2).map { hub.events(for: $0) }
    let all = hub.allTopics.events()
    runThreads(4) { thread in
      for event in 0..<1000 { hub.send(thread * 1000 + event, to: event % 2) }
    }
    hub.finish()
    var received: [[Int]] = [[], []]
    for await element in all { received[element.topic].append(element.event) }
    for topic in 0..<2 {
      var expected: [Int] = []
      for await event in sequences[topic] { expected.append(event) }
      #expect(expected.count == 2000)
      #expect(received[topic] == expected)
    }
  }

  @Test(
    "no event is lost or doubled while topics come, go and end",
    arguments: Ordering.allCases)
  func churn(ordering: Ordering) async {
    let hub = TopicHub<Int, Int>(ordering: ordering)
    let all = hub.allTopics.events()
    runThreads(4) { thread in
      for event in 0..<2000 {
        if thread < 2 {
          hub.send(thread * 2000 + event, to: event % 3)
        } else if thread == 2 {
          hub.finish(event % 3)
        } else {
          let subscription = hub.subscribe(to: event % 3) { _ in }
          withExtendedLifetime(subscription) {}
        }
      }
    }
    hub.finish()
    var received: [Int] = []
    for await element in all {
      #expect(element.topic == element.event % 2000 % 3)
      received.append(element.event)
    }
    #expect(received.count == 4000)
    for sender in 0..<2 {
      let own = received.filter { $0 / 2000 == sender }
      for topic in 0..<3 {
        let expected = (sender * 2000..<(sender + 1) * 2000).filter { $0 % 2000 % 3 == topic }
        let events = own.filter { $0 % 2000 % 3 == topic }
        // With a total order another sender may deliver an event after the end of its topic, when a
        // topic of the same name has begun.
        #expect((ordering == .total ? events.sorted() : events) == expected)
      }
      // With a total order another sender may deliver to one topic while this one sends to the
      // next.
      if ordering == .perSender { #expect(own == own.sorted()) }
    }
  }

  @Test(
    "a sender that can wait waits for the full buffer of such a subscriber too",
    arguments: Ordering.allCases, [true, false])
  func waiting(ordering: Ordering, hasOwnSubscriber: Bool) async {
    let hub = TopicHub<String, Int>(ordering: ordering)
    let own = hasOwnSubscriber ? hub.events(for: "a") : nil
    let iterator = hub.allTopics.events(buffering: .bounded(1, whenFull: .suspend))
      .makeAsyncIterator()
    #expect(await hub.sendWaiting(1, to: "a"))
    async let second = hub.sendWaiting(2, to: "a")
    await yieldTask(until: { iterator.statistics.pending == 2 })
    let third = Task { await hub.sendWaiting(3, to: "a") }
    await yieldTask(until: { iterator.statistics.pending == 3 })
    third.cancel()
    #expect(await !third.value, "it was dropped for this subscriber")
    #expect(await iterator.next()?.event == 1)
    #expect(await iterator.next()?.event == 2)
    #expect(await second)
    #expect(iterator.statistics.dropped == 1)
    withExtendedLifetime(own) {}
  }

  @Test("cancelSubscriptions of the hub ends it; of a topic does not")
  func cancelling() async {
    let hub = TopicHub<String, Int>()
    let all = hub.allTopics.subscribe { _ in }
    hub.cancelSubscriptions(to: "a")
    #expect(all.isActive)
    hub.cancelSubscriptions()
    #expect(all.end == .cancelled)
    #expect(hub.send(1, to: "a") == 0)
  }

  @Test("a hub of topics that is gone has finished for them, as for those of a topic")
  func gone() async {
    let (all, sequence) = {
      let hub = TopicHub<String, Int>()
      let sequence = hub.allTopics.events()
      hub.send(1, to: "a")
      return (hub.allTopics, sequence)
    }()
    #expect(all.send(TopicEvent(topic: "a", event: 2)) == 0)
    var received: [Int] = []
    for await element in sequence { received.append(element.event) }
    #expect(received == [1])
  }

  @Test("neither the hub nor a handler is kept by such a subscription")
  func lifetimes() {
    let tracker = LifetimeTracker()
    do {
      let hub = TopicHub<String, Int>()
      let observer = RecordingObserver(tracker: tracker)
      let own = hub.subscribe(to: "a") { observer.receive($0) }
      let all = hub.allTopics.subscribe { observer.receive($0.event) }
      hub.send(1, to: "a")
      #expect(observer.calls == 2)
      withExtendedLifetime((own, all)) {}
    }
    #expect(tracker.created == 1 && tracker.live == 0)
  }
}
