import ConcurrencyStress
import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A handler of topics with positions ends when it is cancelled")
struct TopicHandlerCancellationTests: ExternalLogSuite {
  @Test(
    "after a cancellation it is not called, and its topics and what it captures are released",
    arguments: TopicHandlerKind.all)
  func cancel(_ kind: TopicHandlerKind) async {
    let tracker = LifetimeTracker()
    let hub = Hub(retention: .last(100))
    let received = TopicElements()
    var following: TopicFollowing
    do {
      let observer = RecordingObserver(0, tracker: tracker)
      following = await hub.follow(kind, ["a", "b"], from: .live) { element in
        received.receive(element)
        _ = observer
      }
    }
    hub.send(1, to: "a")
    await hub.flush()
    #expect(tracker.live == 1)
    await following.subscription.cancelAndWait()
    // A block on a queue may still be about to leave.
    await eventually { tracker.live == 0 }
    hub.send(2, to: "a")
    await hub.flush()
    #expect(received.count == 1)
    #expect(hub.topicCount == 0 && hub.patterns.isEmpty)
    #expect(following.subscription.end == .cancelled)
  }

  @Test("cancel in the handler: it is not called again", arguments: TopicHandlerKind.all)
  func cancelInTheHandler(_ kind: TopicHandlerKind) async {
    let hub = Hub(retention: .last(200))
    for event in 1...100 { hub.send(event, to: "a") }
    let received = TopicElements()
    let (holder, mayBegin) = (Guarded<EventSubscription?>(nil), Gate("it may begin"))
    let following = await hub.follow(kind, ["a"], from: kind.isAtOnce ? .live : .retained) {
      element in
      if !kind.isAtOnce { mayBegin.wait() }
      received.receive(element)
      if received.count == 3 { holder.withLock { $0 }?.cancel() }
    }
    holder.withLock { $0 = following.subscription }
    mayBegin.open()
    for event in 101...110 { hub.send(event, to: "a") }
    await hub.flush()
    await following.subscription.cancelAndWait()
    #expect(received.count == 3 && hub.topicCount == 0)
    holder.withLock { $0 = nil }
  }

  @Test("all ways to cancel the subscriptions of the hub end it", arguments: TopicHandlerKind.all)
  func cancelSubscriptions(_ kind: TopicHandlerKind) async {
    let hub = Hub(retention: .last(100))
    for way in 0..<2 {
      let following = await hub.follow(kind, ["a"], from: .live) { _ in }
      if way == 0 {
        hub.cancelSubscriptions()
      } else if kind.hasPatterns {
        hub.cancelSubscriptions(matching: "a")
      } else {
        hub.cancelSubscriptions(to: "a")
      }
      #expect(following.subscription.end == .cancelled)
      #expect(hub.topicCount == 0 && hub.patterns.isEmpty)
    }
  }

  @Test("all subscriptions are cancelled after one topic has finished: what waits is discarded")
  func cancelAfterAFinish() async {
    let hub = Hub(retention: .last(100))
    let reader = hub.reader(for: ["a", "b"], from: .live) {}
    let sequence = hub.events(for: ["a", "b"], from: .live)
    let handler = hub.subscribe(to: ["a", "b"], from: .live, on: .sender) { _ in }
    hub.send(1, to: "b")
    hub.finish("a")
    hub.cancelSubscriptions()
    #expect(read(reader) == [] && reader.end == .cancelled && handler.end == .cancelled)
    #expect(await texts(sequence) == [])
  }

  @Test("a cancellation beside a drain is a cancellation, and not a finish")
  func cancelBesideADrain() async {
    let actor = FollowingActor()
    for _ in 0..<2000 {
      let hub = Hub(retention: .last(1))
      // Its first drain begins at once, on the actor.
      let subscription = await actor.follow(hub, ["a"], hasPatterns: false, .live) { _ in }
      hub.cancelSubscriptions(to: "a")
      #expect(subscription.end == .cancelled)
    }
  }

  @Test("a drain finishes what has ended, but not what is being cancelled")
  func endsThatADrainFinishes() {
    for (end, isFinished) in [(SubscriptionEnd.cancelled, false), (.finished, true)] {
      let signals = FollowerSignals(.waitFree, nil)
      #expect(!signals.mustFinish)
      signals.end(end, nil)
      #expect(signals.mustFinish == isFinished)
    }
  }

  @Test("after one of its topics was cancelled, it ends with the others")
  func cancelOneTopic() async {
    let hub = Hub(retention: .last(100))
    let received = TopicElements()
    let handler = hub.subscribe(to: ["a", "b"], from: .live, on: .sender) { received.receive($0) }
    let sequence = hub.events(for: ["a", "b"], from: .live)
    hub.cancelSubscriptions(to: "a")
    hub.send(1, to: "b")
    hub.finish()
    #expect(received.numbers == [1] && handler.end == .finished)
    #expect(await texts(sequence) == ["b 1 @1"])
  }

  @Test("a cancellation ends its subscriptions to topics at once, though its queue is suspended")
  func cancelOnASuspendedQueue() {
    let hub = Hub(retention: .last(100))
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let subscription = hub.subscribe(to: ["a"], from: .live, on: queue) { _ in }
    hub.send(1, to: "a")
    subscription.cancel()
    #expect(hub.subscriberCount(for: "a") == 0 && hub.topicCount == 0)
    #expect(hub.send(2, to: "a") == 0)
    queue.resume()
  }

  @Test("subscribing while all subscriptions are cancelled: it is active and told, or has ended")
  func cancelWhileSubscribing() {
    struct State: Sendable {
      let hub = Hub(retention: .last(9))
      let received = TopicElements()
      let subscription = Guarded<EventSubscription?>(nil)
    }
    let outcomes: [Bool: Int] = race(
      rounds: 5_000, setUp: { State() },
      actors: [
        { state in
          let received = state.received
          let subscription = state.hub.subscribe(to: ["a", "b"], from: .live, on: .sender) {
            received.receive($0)
          }
          state.subscription.withLock { $0 = subscription }
        }, { $0.hub.cancelSubscriptions() },
      ],
      outcome: { state in
        let isActive = state.subscription.withLock { $0!.isActive }
        for topic in ["a", "b"] { state.hub.send(1, to: topic) }
        // One of the topics may have been cancelled.
        return isActive == !state.received.elements.isEmpty
      })
    #expect(outcomes[false] == nil)
  }

  @Test("a sequence of patterns ends when the subscriptions of its pattern are cancelled")
  func cancelPatternSequence() async {
    let hub = Hub(retention: .last(100))
    let sequence = hub.events(matching: ["a.*"], from: .live)
    hub.cancelSubscriptions(matching: "a.*")
    #expect(await texts(sequence) == [])
  }
}
