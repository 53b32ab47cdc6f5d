import ConcurrencyStress
import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A handler of topics with positions receives what a sequence does, where it belongs")
struct TopicHandlerTests: ExternalLogSuite {
  private func texts(_ received: TopicElements) -> [String] { received.elements.map(text) }

  @Test(
    "between what is retained and what is new there is neither gap nor duplicate",
    arguments: TopicHandlerKind.all)
  func retainedAndNew(_ kind: TopicHandlerKind) async {
    for start in [SubscriptionStart.retained, .last(150), .live] {
      let hub = Hub(retention: .last(1_000))
      for event in 1...300 { hub.send(event, to: event % 3 == 0 ? "b" : "a") }
      let received = TopicElements()
      let following = await hub.follow(kind, ["a", "b"], from: start) { received.receive($0) }
      for event in 301...400 {
        hub.send(event, to: event % 3 == 0 ? "b" : "a")
        hub.send(0, to: "other")
        // Some come while the handler still reads.
        if event % 20 == 0 { await eventually { received.elements.last?.payload == event } }
      }
      let first = start == .live ? 301 : start == .retained ? 1 : 151
      #expect(received.elements.map(\.payload) == (first...400).map { $0 })
      following.cancel()
    }
  }

  @Test("what is no longer retained is reported for each topic", arguments: TopicHandlerKind.all)
  func missed(_ kind: TopicHandlerKind) async {
    let hub = Hub(retention: .last(2), epoch: 7)
    for event in 1...6 { hub.send(event, to: event < 6 ? "a" : "b") }
    let received = TopicElements()
    let following = await hub.follow(kind, ["a", "b"], from: .after(at(1))) { received.receive($0) }
    await hub.flush()
    #expect(texts(received) == ["missed a 7:1-7:3", "a 4 @4", "a 5 @5", "b 6 @6"])
    following.cancel()
  }

  @Test(
    "after flush it has handled every event that was sent before", arguments: TopicHandlerKind.all)
  func flush(_ kind: TopicHandlerKind) async {
    let hub = Hub(retention: .last(10_000))
    let handled = (0..<3).map { _ in Counter() }
    let following = await hub.follow(kind, ["0", "1", "2"], from: .live) { element in
      if let event = element.payload { handled[event].add() }
    }
    await withTaskGroup { group in
      for sender in 0..<3 {
        group.addTask {
          for round in 1...20 {
            for _ in 0..<100 { hub.send(sender, to: "\(sender)") }
            await hub.flush()
            #expect(handled[sender].value == round * 100)
          }
        }
      }
    }
    following.cancel()
  }

  @Test("a blocking flush waits too, and inside the handler not for itself")
  func blockingFlush() async {
    let hub = Hub(retention: .last(100))
    let (started, mayContinue) = (Gate("it is called"), Gate("it may continue"))
    let results = Guarded<[Bool]>([])
    let following = await hub.follow(TopicHandlerKind(place: .serialQueue), ["a"], from: .live) {
      [weak hub] _ in
      guard let hub else { return }
      started.open()
      mayContinue.wait()
      let isDone = hub.flush(timeout: .seconds(100))
      results.withLock { $0.append(isDone) }
    }
    hub.send(1, to: "a")
    started.wait()
    let isEarly = flush(hub, .milliseconds(1))
    mayContinue.open()
    let isDone = flush(hub, .seconds(100))
    #expect(!isEarly && isDone && results.withLock { $0 } == [true])
    following.cancel()
  }

  @Test("a flush does not wait for sequences with positions, nor for readers")
  func flushBesideSequencesAndReaders() async {
    let hub = Hub(retention: .last(10))
    let sequence = hub.events(for: ["a"], from: .live)
    let byPattern = hub.events(matching: ["*"], from: .live)
    let signals = Counter()
    let reader = hub.reader(for: ["a"], from: .live) { signals.add() }
    hub.send(1, to: "a")
    await hub.flush()
    let isDone = flush(hub, .seconds(100))
    #expect(isDone)
    var iterator = sequence.makeAsyncIterator()
    var patternIterator = byPattern.makeAsyncIterator()
    #expect(await iterator.next()?.payload == 1)
    #expect(await patternIterator.next()?.payload == 1)
    #expect(reader.nextIfAvailable()?.payload == 1)
  }

  private func flush(_ hub: Hub, _ timeout: Duration) -> Bool { hub.flush(timeout: timeout) }

  @Test("it ends after the last event when the hub finishes", arguments: TopicHandlerKind.all)
  func finish(_ kind: TopicHandlerKind) async throws {
    struct Failure: Error {}
    let hub = Hub(retention: .last(1_000))
    let mayContinue = Gate("the handler may continue")
    if kind.isAtOnce { mayContinue.open() }
    let received = TopicElements()
    let following = await hub.follow(kind, ["a", "b"], from: .live) { element in
      if element.payload == 1 { mayContinue.wait() }
      received.receive(element)
    }
    for event in 1...500 { hub.send(event, to: event % 2 == 0 ? "a" : "b") }
    hub.finish(throwing: Failure())
    mayContinue.open()
    await eventually { !following.subscription.isActive }
    #expect(received.numbers == Array(1...500))
    #expect(following.subscription.end == .finished && following.subscription.failure is Failure)
    let late = TopicElements()
    let after = await hub.follow(kind, ["a", "b"], from: .last(3)) { late.receive($0) }
    await eventually { !after.subscription.isActive }
    #expect(late.numbers == [498, 499, 500])
    #expect(hub.subscriberCount(for: "a") == 0)
  }

  @Test("it ends when each of its topics has finished, with everything that was sent before")
  func finishTopics() async {
    let hub = Hub(retention: .last(100))
    let received = TopicElements()
    let following = await hub.follow(
      TopicHandlerKind(place: .serialQueue), ["a", "b"], from: .live
    ) {
      received.receive($0)
    }
    hub.send(1, to: "a")
    hub.finish("a")
    hub.send(2, to: "b")
    await hub.flush()
    #expect(following.subscription.isActive)
    hub.send(3, to: "b")
    hub.finish("b")
    await eventually { !following.subscription.isActive }
    #expect(received.numbers == [1, 2, 3])
  }

  @Test(
    "what is sent after the end of its topics is not received", arguments: TopicHandlerKind.all)
  func afterTheEnd(_ kind: TopicHandlerKind) async {
    guard !kind.hasPatterns else { return }
    let hub = Hub(retention: .last(100))
    let received = TopicElements()
    let following = await hub.follow(kind, ["a"], from: .live) { [weak hub] element in
      received.receive(element)
      guard let event = element.payload, event < 50 else { return }
      hub?.finish("a")
      hub?.send(event + 1, to: "a")
    }
    hub.send(1, to: "a")
    await eventually { !following.subscription.isActive }
    #expect(received.numbers == [1] && following.subscription.end == .finished)
  }

  @Test("an event during whose delivery one of several topics finishes is received all the same")
  func finishDuringDelivery() {
    let hub = Hub(retention: .last(9))
    // Called first, so the topic has ended for the other subscribers when they would be told.
    let first = hub.subscribe(to: "a", on: .sender) { [weak hub] _ in hub?.finish("a") }
    let received = TopicElements()
    let handler = hub.subscribe(to: ["a", "b"], from: .live, on: .sender) { received.receive($0) }
    let notices = Counter()
    let reader = hub.reader(for: ["a", "b"], from: .live) { notices.add() }
    #expect(reader.nextIfAvailable() == nil)
    hub.send(1, to: "a")
    #expect(received.numbers == [1])
    #expect(notices.value == 1 && reader.nextIfAvailable().map(text) == "a 1 @1")
    withExtendedLifetime((first, handler)) {}
  }

  @Test("a block pauses it, and it goes on where it was", arguments: TopicHandlerKind.all)
  func blocks(_ kind: TopicHandlerKind) async {
    let hub = Hub(retention: .last(1_000))
    let received = TopicElements()
    let following = await hub.follow(kind, ["a"], from: .live) { received.receive($0) }
    hub.send(1, to: "a")
    await eventually { received.count == 1 }
    following.subscription.block()
    for event in 2...300 { hub.send(event, to: "a") }
    await hub.flush()
    #expect(received.count == 1)
    following.subscription.unblock()
    await eventually { received.count == 300 }
    following.subscription.block()
    hub.send(301, to: "a")
    hub.finish()
    #expect(following.subscription.isActive && received.count == 300)
    following.subscription.unblock()
    await eventually { !following.subscription.isActive }
    #expect(received.numbers == Array(1...301))
  }

  @Test("an error with which its topic finishes is its failure")
  func failureOfATopic() {
    struct Failure: Error {}
    let hub = Hub(retention: .last(100))
    let handler = hub.subscribe(to: ["a"], from: .live, on: .sender) { _ in }
    hub.finish("a", throwing: Failure())
    #expect(handler.end == .finished && handler.failure is Failure)
  }

  @Test("it ends with its owner, also if its topics get no more events", arguments: [false, true])
  func owner(hasPatterns: Bool) async {
    let hub = Hub(retention: .last(1_000))
    let received = TopicElements()
    var owner: FollowingOwner? = FollowingOwner()
    let subscription =
      hasPatterns
      ? hub.subscribe(matching: ["a"], with: owner!, from: .live, isolation: nil) {
        received.receive($1)
      }
      : hub.subscribe(to: ["a"], with: owner!, from: .live, isolation: nil) { received.receive($1) }
    hub.send(1, to: "a")
    owner = nil
    #expect(!subscription.isActive)
    // Enough topics and patterns that those whose subscribers have no owner any more are removed.
    let others = (0..<200).map { hub.subscribe(to: "other \($0)", on: .sender) { _ in } }
    let more = (0..<200).map {
      hub.subscribe(matching: [TopicPattern("more.\($0)")!], on: .sender) { _ in }
    }
    #expect(hub.topicCount == 200 && hub.patterns.count == 200)
    hub.send(2, to: "a")
    #expect(received.numbers == [1])
    withExtendedLifetime((others, more)) {}
  }

  @Test("the end of the hub releases handler and owner", arguments: [false, true])
  func releases(isOwnerDead: Bool) async {
    let tracker = LifetimeTracker()
    var owner: FollowingOwner? = FollowingOwner()
    do {
      let hub = Hub(retention: .last(1_000))
      let observer = RecordingObserver(0, tracker: tracker)
      hub.subscribe(to: ["a"], with: owner!, from: .live, isolation: nil) { _, _ in _ = observer }
      hub.subscribe(matching: ["a"], with: owner!, from: .live, isolation: nil) { _, _ in
        _ = observer
      }
      hub.send(1, to: "a")
      if isOwnerDead { owner = nil }
    }
    #expect(tracker.live == 0)
    withExtendedLifetime(owner) {}
  }

  @Test(
    "concurrent senders, blocks and subscribers: each event once, in order",
    arguments: TopicHandlerKind.all)
  func concurrent(_ kind: TopicHandlerKind) async {
    let hub = Hub(retention: .last(100_000))
    let received = TopicElements()
    let (calls, overlaps) = (Guarded(0), Counter())
    let following = await hub.follow(kind, ["0", "1"], from: .live) { element in
      let running = calls.withLock { calls in
        calls += 1
        return calls
      }
      if running > 1 { overlaps.add() }
      received.receive(element)
      calls.withLock { $0 -= 1 }
    }
    let late = Guarded<[(TopicFollowing, TopicElements)]>([])
    runThreads(4) { thread in
      for event in 1...1_000 {
        switch thread {
        case 0, 1: hub.send(event, to: "\(thread)")
        case 2:
          following.subscription.block()
          following.subscription.unblock()
        default:
          if event % 100 == 0 {
            let other = TopicElements()
            let subscription = hub.subscribe(to: ["0", "1"], from: .retained, on: .global()) {
              other.receive($0)
            }
            late.withLock { $0.append((TopicFollowing(subscription, nil), other)) }
          }
        }
      }
    }
    await hub.flush()
    #expect(overlaps.value == 0)
    #expect(received.numbers == Array(1...2_000))
    for (_, other) in late.withLock({ $0 }) { #expect(other.numbers == Array(1...2_000)) }
    following.cancel()
  }

  @Test("the handler is measured, once, and its line and label are shown")
  func inspection() async throws {
    let hub = Hub(retention: .last(10))
    hub.measureHandlers(sampling: 1)
    let received = TopicElements()
    let subscription = hub.subscribe(to: ["a"], from: .live, on: .sender, label: "shown") {
      received.receive($0)
    }
    for event in 1...3 { hub.send(event, to: "a") }
    let line = #line - 4
    let shown = try #require(hub.snapshot.receivers.first)
    #expect(shown.label == "shown" && shown.site?.line == line)
    #expect(shown.timing?.calls == 3)
    withExtendedLifetime(subscription) {}
  }
}
