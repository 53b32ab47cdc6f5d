import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A hub of topics warns of leaks and measures handlers over all topics and patterns")
struct TopicInspectionTests {
  @Test func registrationsForSeveralTopicsCountTogether() {
    let hub = TopicHub<String, Int>(name: "chat")
    let warnings = Guarded<[LeakWarning]>([])
    // One that exists when the hub begins to watch.
    var kept = [hub.subscribe(to: "0", fileID: "App/Room.swift", line: 7) { _ in }]
    hub.warnOfLeaks(above: 3) { warning in warnings.withLock { $0.append(warning) } }
    kept.append(hub.subscribe(to: "0", fileID: "App/Room.swift", line: 12) { _ in })
    kept.append(hub.subscribe(to: "1", fileID: "App/Room.swift", line: 12) { _ in })
    kept.append(hub.subscribe(matching: "*", fileID: "App/Room.swift", line: 12) { _ in })
    #expect(warnings.withLock { $0.isEmpty })
    kept.append(hub.allTopics.subscribe(fileID: "App/Room.swift", line: 12) { _ in })
    let warning = warnings.withLock { $0.first }
    #expect(warning?.count == 4)
    #expect(warning?.hub == "chat")
    #expect(warning?.site == CallSite(fileID: "App/Room.swift", line: 12))
    kept.append(hub.subscribe(to: "2", fileID: "App/Room.swift", line: 12) { _ in })
    #expect(warnings.withLock { $0.count } == 1)
  }

  @Test func whatIsObservedOfAllTopicsAloneConcernsNoOthers() {
    let hub = TopicHub<Int, Int>()
    let warnings = Counter()
    hub.allTopics.warnOfLeaks(above: 1) { _ in warnings.add() }
    hub.allTopics.measureHandlers(sampling: 1)
    let kept = [1, 1].map { hub.subscribe(to: $0, label: "topic") { _ in } }
    let all = hub.allTopics.subscribe(label: "all") { _ in }
    hub.send(1, to: 1)
    #expect(warnings.value == 0)
    let timed = hub.snapshot.receivers.filter { $0.timing != nil }
    #expect(timed.map(\.label) == ["all"])
    // The whole hub may be asked beside it.
    hub.measureHandlers(sampling: 1)
    hub.warnOfLeaks(above: 1) { _ in warnings.add() }
    let later = [2, 2].map { hub.subscribe(to: $0, fileID: "App/Room.swift", line: 1) { _ in } }
    #expect(warnings.value == 1)
    withExtendedLifetime((kept, all, later)) {}
  }

  @Test func dropsOfAllBuffersCountAlsoOfThoseThatAreGone() {
    let hub = TopicHub<String, Int>()
    let one = BufferingPolicy<Int>.bounded(1, whenFull: .dropOldest)
    var topic = hub.events(for: "a", buffering: one).makeAsyncIterator()
    let pattern = hub.events(
      matching: "*", buffering: .bounded(2, whenFull: .dropOldest)
    ).makeAsyncIterator()
    let all = hub.allTopics.events(
      buffering: .bounded(3, whenFull: .dropOldest)
    ).makeAsyncIterator()
    for number in 0..<10 { hub.send(number, to: "a") }
    #expect(hub.snapshot.dropped == 9 + 8 + 7)
    topic = hub.events(for: "b", buffering: one).makeAsyncIterator()
    #expect(hub.topicCount == 1)
    #expect(hub.snapshot.dropped == 9 + 8 + 7)
    withExtendedLifetime((topic, pattern, all)) {}
  }

  @Test func registrationsThatEndAreNoLeak() {
    let hub = TopicHub<Int, Int>()
    let warnings = Counter()
    hub.warnOfLeaks(above: 3) { _ in warnings.add() }
    for topic in 0..<1000 { hub.subscribe(to: topic) { _ in }.cancel() }
    #expect(warnings.value == 0)
    #expect(hub.topicCount == 0)
  }

  @Test func theHandlerMaySubscribeAndFinish() {
    let hub = TopicHub<Int, Int>()
    let warnings = Counter()
    hub.warnOfLeaks(above: 2) { [weak hub] _ in
      warnings.add()
      hub?.subscribe(to: 9) { _ in }.cancel()
      hub?.cancelSubscriptions()
    }
    let kept = (1...3).map { hub.subscribe(to: $0) { _ in } }
    #expect(warnings.value == 1)
    #expect(hub.topicCount == 0)
    withExtendedLifetime(kept) {}
  }

  @Test func manyThreadsGetOneWarning() {
    let hub = TopicHub<Int, Int>()
    let warnings = Counter()
    hub.warnOfLeaks(above: 10) { _ in warnings.add() }
    let kept = Guarded<[EventSubscription]>([])
    runThreads(4) { thread in
      for topic in 0..<100 {
        let subscription = hub.subscribe(to: topic % (thread + 1), on: .sender) { _ in }
        kept.withLock { $0.append(subscription) }
      }
    }
    #expect(warnings.value == 1)
    #expect(hub.snapshot.receivers.count == 400)
  }

  @Test func everyHandlerIsMeasured() async throws {
    let hub = TopicHub<String, Int>()
    let before = hub.subscribe(to: "a", on: .sender) { _ in }
    hub.measureHandlers(sampling: 1)
    let subscriptions = [
      hub.subscribe(to: "a", on: .sender) { _ in },
      hub.subscribe(to: "b", on: DispatchQueue(label: "queue")) { _ in },
      hub.subscribe(to: "b") { (_: Int) async in },
      hub.subscribe(matching: "*", on: .sender) { _ in },
      hub.allTopics.subscribe(on: .sender) { _ in },
    ]
    hub.send(1, to: "a")
    hub.send(2, to: "b")
    hub.send(3, to: "b")
    await hub.flush()
    let receivers = hub.snapshot.receivers
    func calls(_ topic: String?, _ kind: String) -> [Int?] {
      receivers.filter { $0.topic == topic && $0.kind == kind }.map { $0.timing?.calls }
    }
    #expect(calls("a", "handler") == [nil, 1])
    #expect(calls("b", "handler") == [2])
    #expect(calls("b", "async handler") == [2])
    #expect(calls("*", "handler") == [3])
    #expect(calls(nil, "handler") == [3])
    for timing in receivers.compactMap(\.timing) {
      let last = try #require(timing.last)
      #expect(0 < last && last <= timing.slowest ?? 0)
    }
    withExtendedLifetime((before, subscriptions)) {}
  }

  @Test func aTopicThatBeginsLaterIsMeasured() throws {
    let hub = TopicHub<String, Int>(name: "chat")
    let warnings = Guarded<[SlowHandlerWarning]>([])
    hub.measureHandlers(sampling: 1, slowerThan: .zero) { [weak hub] warning in
      warnings.withLock { $0.append(warning) }
      hub?.cancelSubscriptions()  // With no lock held.
    }
    let subscription = hub.subscribe(
      to: "new", on: .sender, label: "room", fileID: "App/Room.swift", line: 12
    ) { _ in }
    hub.send(1, to: "new")
    hub.send(2, to: "new")
    let warning = try #require(warnings.withLock { $0.first })
    #expect(warnings.withLock { $0.count } == 1)
    #expect(warning.hub == "chat")
    #expect(warning.label == "room")
    #expect(warning.site == CallSite(fileID: "App/Room.swift", line: 12))
    #expect(!subscription.isActive)
  }

  private func receiver(_ hub: TopicHub<String, Int>, _ label: String, _ topic: String) throws
    -> ReceiverSnapshot
  {
    let receivers = hub.snapshot.receivers.filter { $0.label == label && $0.topic == topic }
    try #require(receivers.count == 1, "\(label) \(topic): \(receivers)")
    return receivers[0]
  }

  private func counts(
    _ hub: TopicHub<String, Int>, _ label: String, _ topic: String
  ) throws -> [Int?] {
    let statistics = try receiver(hub, label, topic).statistics
    return [statistics?.delivered, statistics?.pending, statistics?.dropped]
  }

  @Test func subscribersWithPositionsHaveCounts() throws {
    let hub = TopicHub<String, Int>(retention: .last(10))
    hub.send(1, to: "a")
    let slow = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(2, whenFull: .dropOldest), label: "slow"
    ) {}
    let both = hub.reader(for: ["a", "b"], from: .retained, label: "both") {}
    let sequence = hub.events(for: "b", from: .live, label: "sequence")
    let pattern = hub.reader(matching: ["*"], from: .live, label: "pattern") {}
    for event in 2...4 { hub.send(event, to: "a") }
    hub.send(5, to: "b")
    #expect(try counts(hub, "slow", "a") == [0, 2, 1])
    #expect(try counts(hub, "both", "a") == [0, 4, 0])
    #expect(try counts(hub, "both", "b") == [0, 1, 0])
    #expect(try counts(hub, "sequence", "b") == [0, 1, 0])
    #expect(try receiver(hub, "pattern", "*").statistics == nil)
    #expect(try receiver(hub, "slow", "a").kind == "reader")
    #expect(try receiver(hub, "sequence", "b").kind == "sequence")
    #expect(try receiver(hub, "slow", "a").place == "consumer")
    #expect(hub.snapshot.pending == 8)
    #expect(hub.snapshot.dropped == 1)
    while slow.nextIfAvailable() != nil {}
    while both.nextIfAvailable() != nil {}
    #expect(try counts(hub, "slow", "a") == [2, 0, 1])
    #expect(try counts(hub, "both", "a") == [4, 0, 0])
    #expect(try counts(hub, "both", "b") == [1, 0, 0])
    // The events also leave the log before they are read.
    for event in 1...20 { hub.send(event, to: "a") }
    #expect(try counts(hub, "slow", "a") == [2, 2, 19])
    while slow.nextIfAvailable() != nil {}
    #expect(try counts(hub, "slow", "a") == [4, 0, 19])
    slow.cancel()
    #expect(hub.snapshot.receivers.allSatisfy { $0.label != "slow" })
    #expect(hub.snapshot.dropped == 19 + 10)
    withExtendedLifetime((both, sequence, pattern)) {}
  }

  @Test func handlersWithPositionsHaveCounts() async throws {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let queue = DispatchQueue(label: "shown")
    let owner = Counter()
    let handler = hub.subscribe(
      to: ["a", "b"], from: .live, on: queue, label: "handler"
    ) { _ in }
    let owned = hub.subscribe(to: ["a"], with: owner, from: .live, label: "owned") { _, _ in }
    for event in 1...3 { hub.send(event, to: "a") }
    await hub.flush()
    #expect(try counts(hub, "handler", "a") == [3, 0, 0])
    #expect(try counts(hub, "handler", "b") == [0, 0, 0])
    #expect(try counts(hub, "owned", "a") == [3, 0, 0])
    #expect(try receiver(hub, "handler", "a").kind == "handler")
    #expect(try receiver(hub, "handler", "b").place == "queue shown")
    #expect(try receiver(hub, "handler", "b").isKept)
    #expect(try !receiver(hub, "owned", "a").isKept)
    handler.block()
    #expect(try receiver(hub, "handler", "a").isBlocked)
    hub.send(4, to: "a")
    #expect(try counts(hub, "handler", "a") == [3, 1, 0])
    handler.unblock()
    withExtendedLifetime((owner, owned)) {}
  }

  @Test func aReaderThatIsToEndBecauseItWasSlowHasCounts() throws {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let reader = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(2, whenFull: .disconnect), label: "slow"
    ) {}
    for event in 1...5 { hub.send(event, to: "a") }
    #expect(try counts(hub, "slow", "a") == [0, 2, 3])
    #expect(reader.nextIfAvailable() != nil)
    // Both events were read at once.
    #expect(try counts(hub, "slow", "a") == [2, 0, 3])
  }

  @Test func aSecondCallIsRefused() async {
    let leaks = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = TopicHub<Int, Int>(name: "chat")
      hub.warnOfLeaks(above: 7) { _ in }
      hub.warnOfLeaks { _ in }
    }
    let timing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = TopicHub<Int, Int>(name: "chat")
      hub.measureHandlers()
      hub.measureHandlers()
    }
    func message(_ result: ExitTest.Result?) -> String {
      result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    }
    #expect(
      message(leaks).contains(
        "in the hub \"chat\": this hub warns of more than 7 registrations already"))
    #expect(message(timing).contains("in the hub \"chat\": handlers are measured already"))
  }

  @Test func badLimitsAreRefused() async {
    let leaks = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TopicHub<Int, Int>(name: "chat").warnOfLeaks(above: 0) { _ in }
    }
    let timing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TopicHub<Int, Int>(name: "chat").measureHandlers(sampling: 0)
    }
    func message(_ result: ExitTest.Result?) -> String {
      result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    }
    #expect(message(leaks).contains("a limit of 0 registrations allows none"))
    #expect(message(timing).contains("one of 0 calls cannot be measured"))
  }
}
