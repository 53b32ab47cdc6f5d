import Multicast
import MulticastTestSupport
import Testing

@Suite("trySend to a topic: its subscribers decide, and each of the others has its own policy")
struct TopicTrySendTests {
  private typealias Element = TopicEvent<String, Int>

  private func hubs(_ retention: Retention<Int>) -> [TopicHub<String, Int>] {
    Ordering.allCases.flatMap {
      [TopicHub(ordering: $0), TopicHub(retention: retention, ordering: $0)]
    }
  }

  @Test("full buffers of patterns and of all topics refuse no event, and drop by their policy")
  func others() async {
    for hub in hubs(.last(10)) {
      let newest = BufferingPolicy<Element>.bounded(1, whenFull: .dropNewest)
      let oldest = BufferingPolicy<Element>.bounded(1, whenFull: .dropOldest)
      let pattern = hub.events(matching: "a.*", buffering: newest)
      let all = hub.allTopics.events(buffering: oldest)
      let own = hub.events(for: "a.b", buffering: .bounded(2, whenFull: .dropNewest))
      #expect(hub.trySend(1, to: "a.b"))
      #expect(hub.trySend(2, to: "a.b"))
      #expect(!hub.trySend(3, to: "a.b"))
      #expect(hub.trySend(4, to: "a.c"))
      hub.finish()
      #expect(await own.reduce(into: []) { $0.append($1) } == [1, 2])
      #expect(await pattern.reduce(into: []) { $0.append($1.event) } == [1])
      #expect(await all.reduce(into: []) { $0.append($1.event) } == [4])
    }
  }

  @Test("a subscriber with positions is not asked: a limit of its own disconnects it")
  func positions() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let slow = hub.events(
      for: "a", from: .live, buffering: .bounded(1, whenFull: .disconnect))
    for event in 1...3 { #expect(hub.trySend(event, to: "a")) }
    #expect(await slow.reduce(into: []) { $0.append($1.event?.event) } == [1])
  }

  @Test("while the hub is blocked: true, and no subscriber and no retention gets the event")
  func blocked() async {
    let single = EventHub<Int>(replay: 1)
    let sequence = single.events()
    #expect(single.withBlocked { single.trySend(1) } && single.value == nil)
    single.finish()
    #expect(await sequence.first { _ in true } == nil)
    for hub in hubs(.last(10)) {
      let sequence = hub.events(for: "a")
      #expect(hub.withBlocked { hub.trySend(1, to: "a") })
      hub.finish()
      #expect(await sequence.first { _ in true } == nil)
    }
  }

  @Test("what the hub has kept counts as sent, also if the topic is finished during the call")
  func finished() async {
    for ordering in Ordering.allCases {
      let hub = WeakHub()
      let sizes = Retention<Int>.bytes(100) { _ in
        hub.finish("a")
        return 1
      }
      let topics = TopicHub(retention: sizes, ordering: ordering)
      hub.hub = topics
      let sequence = topics.events(for: "a")
      #expect(topics.trySend(1, to: "a"))
      #expect(await sequence.first { _ in true } == nil)
      let late = topics.events(for: "a", from: .retained)
      topics.finish()
      #expect(!topics.trySend(2, to: "a"))
      #expect(await late.reduce(into: []) { $0.append($1.event?.event) } == [1])
    }
  }

  @Test(
    "the topic is finished during the call: those of patterns and of all topics get the event once",
    arguments: Ordering.allCases, [false, true])
  func finishedForOthers(ordering: Ordering, hasPattern: Bool) {
    let hub = WeakHub()
    let sizes = Retention<Int>.bytes(100) { _ in
      hub.finish("a")
      return 1
    }
    let topics = TopicHub(retention: sizes, ordering: ordering)
    hub.hub = topics
    let (pattern, all, notices) = (Journal(), Journal(), Journal())
    var subscriptions = [
      topics.subscribe(to: "a") { _ in }, topics.allTopics.subscribe { all.record($0.event) },
    ]
    if hasPattern {
      subscriptions.append(topics.subscribe(matching: "*") { pattern.record($0.event) })
      let reader = topics.reader(matching: ["*"], from: .live) { notices.record(1) }
      #expect(reader.nextIfAvailable() == nil)
      #expect(topics.trySend(1, to: "a"))
      #expect(notices.entries == [1] && reader.nextIfAvailable()?.event?.event == 1)
    } else {
      #expect(topics.trySend(1, to: "a"))
    }
    #expect(all.entries == [1] && pattern.entries == (hasPattern ? [1] : []))
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "the topic ends and begins again during the call: each of the others gets the event once",
    arguments: Ordering.allCases, [false, true])
  func beginsAgain(ordering: Ordering, hasPattern: Bool) {
    let topics = TopicHub<String, Int>(retention: .last(10), ordering: ordering)
    let (later, pattern, all) = (Journal(), Journal(), Journal())
    let kept = Guarded<[EventSubscription]>([])
    kept.withLock {
      $0 = [topics.allTopics.subscribe { all.record($0.event) }]
      if hasPattern { $0.append(topics.subscribe(matching: "*") { pattern.record($0.event) }) }
    }
    let first = topics.subscribe(to: "a") { [weak topics] _ in
      guard let topics else { return }
      topics.finish("a")
      let new = topics.subscribe(to: "a") { later.record($0) }
      kept.withLock { $0.append(new) }
    }
    #expect(topics.trySend(1, to: "a"))
    #expect(first.end == .finished && later.entries == [1])
    #expect(all.entries == [1] && pattern.entries == (hasPattern ? [1] : []))
  }
}

extension TopicTrySendTests {
  @Test(
    "the hub is finished while the topic is looked up: false, if no subscriber gets the event",
    arguments: Ordering.allCases, [false, true])
  func finishedDuringLookup(ordering: Ordering, hasOther: Bool) async {
    let hub = TopicHub<LookedUpTopic, Int>(ordering: ordering)
    let topic = LookedUpTopic { [weak hub] in hub?.finish() }
    let sequence = hub.events(for: topic)
    let other = hasOther ? hub.allTopics.events() : nil
    topic.isSending.withLock { $0 = true }
    #expect(!hub.trySend(1, to: topic))
    #expect(await sequence.first { _ in true } == nil)
    if let other { #expect(await other.first { _ in true } == nil) }
  }
}

/// A topic that calls a function when a sender looks it up.
private final class LookedUpTopic: Hashable, Sendable {
  let isSending = Guarded(false)
  private let action: @Sendable () -> Void

  init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  static func == (left: LookedUpTopic, right: LookedUpTopic) -> Bool { left === right }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
    let isLookup = isSending.withLock { isSending in
      defer { isSending = false }
      return isSending
    }
    if isLookup { action() }
  }
}

/// What a closure finishes that was made before the hub.
private final class WeakHub: @unchecked Sendable {
  // Sendable: one thread uses it.
  weak var hub: TopicHub<String, Int>?

  func finish(_ topic: String) { hub?.finish(topic) }
}
