import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("A hub per topic, created for its first subscriber and removed with its last one")
struct TopicHubTests {
  @Test func topicsAreApart() async {
    let hub = TopicHub<String, Int>()
    #expect(hub.send(1, to: "a") == 0)
    #expect(hub.topicCount == 0)
    let journal = Journal()
    let subscription = hub.subscribe(to: "a") { journal.record($0) }
    let sequence = hub.events(for: "b")
    #expect(hub.topicCount == 2)
    #expect(hub.send(1, to: "a") == 1)
    #expect(hub.send(2, to: "b") == 1)
    #expect(hub.send(3, to: "c") == 0)
    #expect(hub.statistics["b"]?.pending == 1)
    #expect(hub.subscriberCount(for: "a") == 1)
    hub.finish("b")
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [2])
    #expect(journal.entries == [1])
    subscription.cancel()
    #expect(hub.topicCount == 0)
  }

  @Test("the end of an owner removes its topic")
  func owners() {
    let hub = TopicHub<Int, Int>()
    var owner: RecordingObserver? = RecordingObserver()
    hub.subscribe(to: 1, with: owner!) { owner, event in owner.receive(event) }
    #expect(hub.send(1, to: 1) == 1)
    owner = nil
    #expect(hub.send(1, to: 1) == 0)
    #expect(hub.topicCount == 0)
  }

  @Test("a topic that is removed drops no concurrent subscriber")
  func vanishing() {
    let hub = TopicHub<Int, Int>()
    let missed = Atomic<Int>(0)
    runThreads(4) { index in
      var generator = SplitMix64(seed: SplitMix64.runSeed &+ UInt64(index))
      for round in 0..<2000 {
        let topic = Int.random(in: 0..<3, using: &generator)
        let counter = Journal()
        let subscription = hub.subscribe(to: topic) { event in
          if event == index { counter.record(round) }
        }
        hub.send(index, to: topic)
        if counter.entries.count != 1 { missed.add(1, ordering: .relaxed) }
        subscription.cancel()
      }
    }
    #expect(missed.load(ordering: .relaxed) == 0)
    #expect(hub.topicCount == 0)
  }

  // MARK: Finish

  @Test("finish ends every topic, and every later subscription", arguments: Ordering.allCases)
  func finish(_ ordering: Ordering) async {
    let hub = TopicHub<Int, Int>(ordering: ordering)
    let journal = Journal()
    let handlers = (0..<100).map { hub.subscribe(to: $0) { journal.record($0) } }
    let sequences = (0..<100).map { hub.events(for: $0) }
    for topic in 0..<100 { #expect(hub.send(topic, to: topic) == 2) }
    hub.finish()
    hub.finish()
    #expect(hub.topicCount == 0)
    #expect(handlers.allSatisfy { $0.end == .finished })
    for (topic, sequence) in sequences.enumerated() {
      var received: [Int] = []
      for await event in sequence { received.append(event) }
      #expect(received == [topic])
      for await _ in sequence { Issue.record("an event after finish") }
    }

    let late = hub.subscribe(to: 1) { _ in Issue.record("called after finish") }
    #expect(late.end == .finished)
    #expect(hub.send(1, to: 1) == 0)
    hub.send(contentsOf: [2, 3], to: 1)
    await hub.sendWaiting(4, to: 1)
    for await _ in hub.events(for: 1) { Issue.record("an event after finish") }
    #expect(await hub.first(for: 1) { _ in true } == nil)
    #expect(hub.topicCount == 0)
    #expect(journal.entries == Array(0..<100))
  }

  @Test("a handler may finish the hub: what was sent before is delivered, and nothing begins anew")
  func finishInAHandler() async {
    let hub = TopicHub<Int, Int>()
    let late = Holder<EventSubscription>(nil)
    let sequence = hub.events(for: 2)
    let subscription = hub.subscribe(to: 1) { event in
      hub.send(event, to: 2)
      guard event == 2 else { return }
      hub.finish()
      late.value = hub.subscribe(to: 3) { _ in Issue.record("called after finish") }
    }
    hub.send(contentsOf: 0..<5, to: 1)
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [0, 1, 2])
    #expect(subscription.end == .finished)
    #expect(late.value?.end == .finished)
    #expect(hub.send(5, to: 3) == 0)
    #expect(hub.topicCount == 0)
  }

  @Test("finish racing subscribe: every sequence ends, and no topic is left")
  func finishRacingSubscribe() async {
    let subscribe: @Sendable (TopicHub<Int, Int>, Int) -> Void = { hub, topic in
      let done = Gate("sequence ended")
      let sequence = hub.events(for: topic)
      Task {
        for await _ in sequence {}
        done.open()
      }
      done.wait()
    }
    let outcomes = await onOwnThread {
      race(
        rounds: 500, setUp: { TopicHub<Int, Int>() },
        actors: [{ $0.finish() }, { subscribe($0, 1) }, { subscribe($0, 2) }],
        outcome: { $0.topicCount })
    }
    #expect(outcomes == [0: 500])
  }

  @Test("topics whose hashes are all the same, and that use the hub while they are compared")
  func awkwardTopics() {
    let hub = TopicHub<Awkward, Int>()
    let subscriptions = (0..<50).map { id in
      hub.subscribe(to: Awkward(id: id, hub: nil)) { _ in }
    }
    #expect(hub.topicCount == 50)
    for id in 0..<50 { #expect(hub.send(0, to: Awkward(id: id, hub: hub)) == 1) }
    for subscription in subscriptions.reversed() { subscription.cancel() }
    #expect(hub.topicCount == 0)
  }

  @Test("100,000 topics")
  func manyTopics() {
    let hub = TopicHub<Int, Int>()
    let count = Atomic<Int>(0)
    let subscriptions = (0..<100_000).map { topic in
      hub.subscribe(to: topic) { _ in count.add(1, ordering: .relaxed) }
    }
    #expect(hub.topicCount == 100_000)
    for topic in stride(from: 0, to: 100_000, by: 10) { hub.send(0, to: topic) }
    #expect(count.load(ordering: .relaxed) == 10_000)
    for subscription in subscriptions { subscription.cancel() }
    #expect(hub.topicCount == 0)
  }

  @Test("topics whose owners are gone are bounded by those that are there")
  func deadTopics() {
    let hub = TopicHub<Int, Int>()
    for topic in 0..<10_000 {
      hub.subscribe(to: topic, with: RecordingObserver()) { _, _ in }
    }
    #expect(hub.topicCount <= 128)
  }
}

/// A topic whose hash collides with all others, and which uses the hub when it is compared.
private struct Awkward: Hashable, Sendable {
  let id: Int
  let hub: TopicHub<Awkward, Int>?

  static func == (left: Awkward, right: Awkward) -> Bool {
    _ = left.hub?.topicCount
    _ = right.hub?.topicCount
    return left.id == right.id
  }

  func hash(into hasher: inout Hasher) { hasher.combine(0) }
}
