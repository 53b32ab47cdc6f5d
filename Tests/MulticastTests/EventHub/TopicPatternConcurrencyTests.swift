import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("Patterns of topics that come and go while others send", .timeLimit(.minutes(10)))
struct TopicPatternConcurrencyTests {
  /// The topics that senders use in turn, and patterns of which each matches some of them.
  private static let topics = ["a.b", "a.c", "b.b", "b.c.d", "a.b.d"]
  private static let patterns: [[TopicPattern]] = [
    ["a.*"], ["a.>"], [">"], ["*.b"], ["a.b"], ["*.*", "*.*.*"], ["b.>", "*.c", "b.b"],
    ["*.*.d", "a.*.d"],
  ]

  @Test(
    "a subscriber gets each event that is sent while it is subscribed exactly once, in order",
    arguments: Ordering.allCases, StorageStrategy.allCases)
  func law(ordering: Ordering, storage: StorageStrategy) {
    let hub = TopicHub<String, Int>(ordering: ordering, storage: storage)
    let (senders, rounds, tracker) = (2, 3000, LifetimeTracker())
    // Numbers of events that each sender is about to send, and has sent.
    let begun = (0..<senders).map { _ in Counter() }
    let ended = (0..<senders).map { _ in Counter() }
    let resident = hub.subscribe(matching: ["none", "a.*.none"]) { _ in
      Issue.record("an event of another topic")
    }
    runThreads(senders + 2) { thread in
      if thread < senders {
        for event in 0..<rounds {
          begun[thread].value.store(event + 1, ordering: .sequentiallyConsistent)
          hub.send(
            thread * rounds + event, to: Self.topics[event % Self.topics.count])
          ended[thread].value.store(event + 1, ordering: .sequentiallyConsistent)
        }
        return
      }
      var generator = SplitMix64(seed: SplitMix64.runSeed &+ UInt64(thread))
      while ended.contains(where: { $0.value.load(ordering: .sequentiallyConsistent) < rounds }) {
        let patterns = Self.patterns.randomElement(using: &generator)!
        let observer = RecordingObserver(tracker: tracker)
        let journal = Journal()
        let own =
          Bool.random(using: &generator)
          ? hub.subscribe(to: Self.topics.randomElement(using: &generator)!) { _ in } : nil
        let subscription = hub.subscribe(matching: patterns) { element in
          observer.receive(0)
          journal.record(element.event)
        }
        let first = begun.map { $0.value.load(ordering: .sequentiallyConsistent) }
        for _ in 0..<Int.random(in: 0..<200, using: &generator) { pause() }
        let last = ended.map { $0.value.load(ordering: .sequentiallyConsistent) }
        subscription.cancel()
        check(journal.entries, patterns, rounds, first, last, ordering)
        withExtendedLifetime(own) {}
      }
    }
    #expect(hub.patterns == ["none", "a.*.none"] && hub.topicCount == 0)
    #expect(tracker.created > 0 && tracker.live == 0)
    withExtendedLifetime(resident) {}
  }

  /// Checks what a subscriber received while each sender sent at least its events from `first` to
  /// `last`.
  private func check(
    _ received: [Int], _ patterns: [TopicPattern], _ rounds: Int, _ first: [Int], _ last: [Int],
    _ ordering: Ordering
  ) {
    for sender in first.indices {
      let events = received.filter { $0 / rounds == sender }.map { $0 % rounds }
      let isInOrder =
        ordering == .perSender
        ? events == events.sorted()
        : Self.topics.indices.allSatisfy { topic in
          let own = events.filter { $0 % Self.topics.count == topic }
          return own == own.sorted()
        }
      #expect(isInOrder && Set(events).count == events.count)
      func isWanted(_ event: Int) -> Bool {
        patterns.contains { $0.matches(Self.topics[event % Self.topics.count]) }
      }
      #expect(events.allSatisfy(isWanted))
      guard first[sender] < last[sender] else { continue }
      let sent = (first[sender]..<last[sender])
      // With a total order, another sender may deliver an event after its `send` has returned.
      let missing = sent.filter { isWanted($0) && !events.contains($0) }
      if ordering == .perSender { #expect(missing.isEmpty) }
    }
  }

  @Test("with a total order nothing is lost either, and topics have one order for all patterns")
  func totalOrder() async {
    for _ in 0..<10 {
      let hub = TopicHub<String, Int>(ordering: .total)
      let patterns: [TopicPattern] = ["a.*", "*.b", "a.b", ">"]
      let sequences = patterns.map { hub.events(matching: $0) }
      let all = hub.allTopics.events()
      runThreads(4) { thread in
        for event in 0..<1000 {
          hub.send(thread * 1000 + event, to: "a.b")
          // The topic comes and goes.
          if thread == 0 && event % 2 == 0 {
            let own = hub.subscribe(to: "a.b") { _ in }
            withExtendedLifetime(own) {}
          }
        }
      }
      hub.finish()
      var received: [[Int]] = []
      for sequence in sequences + [all] {
        var events: [Int] = []
        for await element in sequence { events.append(element.event) }
        received.append(events)
      }
      #expect(received[0].count == 4000)
      for events in received { #expect(events == received[0]) }
      for sender in 0..<4 {
        let own = received[0].filter { $0 / 1000 == sender }
        #expect(own == own.sorted())
      }
    }
  }

  @Test("the last pattern goes while a sender yields: the topic's own subscribers miss nothing")
  func lastPatternGoesDuringYield() async {
    let hub = TopicHub<String, Int>(ordering: .total)
    let (own, all) = (Journal(), Journal())
    let subscriptions = [
      hub.subscribe(to: "a") { own.record($0) }, hub.allTopics.subscribe { all.record($0.event) },
    ]
    let pattern = hub.subscribe(matching: "*") { _ in }
    let executor = SteppedExecutor()
    let isSuspended = await onOwnThread {
      Task(executorPreference: executor.preferred) {
        for event in 1...100 { await hub.sendWaiting(event, to: "a") }
      }
      guard executor.runNewest() else { return false }
      let isSuspended = own.entries.count < 100
      pattern.cancel()
      while executor.runNewest() {}
      return isSuspended
    }
    #expect(isSuspended)
    #expect(own.entries == Array(1...100) && all.entries == own.entries)
    withExtendedLifetime(subscriptions) {}
  }

  @Test("patterns come and go while others send: the topic's own subscribers miss nothing")
  func patternsComeAndGo() {
    let hub = TopicHub<String, Int>(ordering: .total)
    let (own, isDone) = (Counter(), Counter())
    let subscription = hub.subscribe(to: "a") { _ in
      own.value.wrappingAdd(1, ordering: .relaxed)
    }
    runThreads(3) { thread in
      guard thread == 2 else {
        for event in 0..<50_000 { hub.send(event, to: "a") }
        isDone.value.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return
      }
      while isDone.value.load(ordering: .sequentiallyConsistent) < 2 {
        hub.subscribe(matching: "*") { _ in }.cancel()
      }
    }
    #expect(own.value.load(ordering: .relaxed) == 100_000)
    withExtendedLifetime(subscription) {}
  }

  @Test("many threads subscribe to many patterns, and leave nothing behind")
  func churn() {
    let tracker = LifetimeTracker()
    do {
      let hub = TopicHub<String, Int>()
      runThreads(4) { thread in
        var generator = SplitMix64(seed: SplitMix64.runSeed &+ UInt64(thread))
        var kept: [EventSubscription] = []
        for number in 0..<2000 {
          let observer = RecordingObserver(tracker: tracker)
          let token = Int.random(in: 0..<300, using: &generator)
          let patterns: [TopicPattern] = [
            TopicPattern("t.\(token).*")!, TopicPattern("*.\(token).x")!, "broadcast.>",
          ]
          kept.append(
            hub.subscribe(
              matching: Array(patterns.prefix(Int.random(in: 1...3, using: &generator)))
            ) { observer.receive($0.event) })
          hub.send(number, to: "t.\(token).x")
          if kept.count > 100 { kept.remove(at: Int.random(in: 0..<kept.count, using: &generator)) }
        }
      }
      #expect(hub.patterns.isEmpty && hub.send(1, to: "t.1.x") == 0)
    }
    #expect(tracker.created == 8000 && tracker.live == 0)
  }

  @Test("finishing while threads subscribe ends every subscription")
  func finishing() async {
    for _ in 0..<300 {
      let hub = TopicHub<String, Int>()
      let subscriptions = Guarded<[EventSubscription]>([])
      runThreads(3) { thread in
        if thread == 0 { return hub.finish() }
        for number in 0..<5 {
          let new = hub.subscribe(matching: TopicPattern("a.\(number)")!) { _ in }
          subscriptions.withLock { $0.append(new) }
        }
      }
      #expect(subscriptions.withLock { $0.allSatisfy { $0.end == .finished } })
      #expect(hub.patterns.isEmpty)
    }
  }
}

private final class Counter: Sendable {
  let value = Atomic<Int>(0)
}

/// Takes some time.
@inline(never) private func pause() { _ = Holder<Int>(1).value }
