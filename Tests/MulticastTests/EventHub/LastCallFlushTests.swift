import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

/// A handler that waits for the test in its last call.
private final class Handler: Sendable {
  let began = Gate("the last call")
  let mayEnd = Gate("the end of the last call")
  let returned = Counter()
  let limit: Int
  private let calls = Atomic<Int>(0)

  init(limit: Int = 1) { self.limit = limit }

  /// On a thread that may block: not one of the few of the concurrency pool.
  func call() {
    begin()
    mayEnd.wait()
    returned.add()
  }

  func callSuspending() async {
    begin()
    await eventually { self.mayEnd.isOpen }
    returned.add()
  }

  private func begin() {
    if calls.add(1, ordering: .sequentiallyConsistent).newValue == limit { began.open() }
  }
}

@Suite("A flush waits for the last call of a handler for the first n events")
struct LastCallFlushTests {
  @Test("on a queue, on an actor, in a task, in several tasks, with an owner", arguments: 0..<5)
  func everywhere(place: Int) async {
    let hub = EventHub<Int>()
    let handler = Handler(limit: place == 3 ? 3 : 1)
    let queue = DispatchQueue(label: "queue")
    let station = Station()
    let owner = RecordingObserver()
    let options: [SubscriberOption<Int>] = [.first(handler.limit)]
    let subscription =
      switch place {
      case 0: hub.subscribe(on: queue, options: options) { _ in handler.call() }
      case 1: hub.subscribe(with: station, options: options) { _, _ in handler.call() }
      case 2: hub.subscribe(options: options) { _ async in await handler.callSuspending() }
      case 3:
        hub.subscribe(options: options, maxConcurrentCalls: 3) { _ async in
          await handler.callSuspending()
        }
      default: hub.subscribe(with: owner, on: queue, options: options) { _, _ in handler.call() }
      }
    for event in 0..<4 { hub.send(event) }
    await onOwnThread {
      handler.began.wait()
      #expect(!subscription.isActive)
      #expect(!hub.flush(timeout: .zero))
      handler.mayEnd.open()
    }
    await hub.flush()
    #expect(handler.returned.value == handler.limit)
    withExtendedLifetime(subscription) {}
  }

  @Test("of a topic, of a pattern, and of all topics, which leave the hub", arguments: 0..<3)
  func topics(kind: Int) async {
    let hub = TopicHub<String, Int>()
    let handler = Handler()
    let queue = DispatchQueue(label: "queue")
    let subscription =
      switch kind {
      case 0: hub.subscribe(to: "a", on: queue, options: [.once]) { _ in handler.call() }
      case 1: hub.subscribe(matching: "a", on: queue, options: [.once]) { _ in handler.call() }
      default: hub.allTopics.subscribe(on: queue, options: [.once]) { _ in handler.call() }
      }
    hub.send(1, to: "a")
    await onOwnThread {
      handler.began.wait()
      #expect(hub.topicCount == 0)
      #expect(!hub.flush(timeout: .zero))
      handler.mayEnd.open()
    }
    await hub.flush()
    #expect(handler.returned.value == 1 && !subscription.isActive)
  }

  @Test("not inside the call, and not after the subscription was cancelled", arguments: 0..<3)
  func cancelled(how: Int) async {
    let hub = EventHub<Int>()
    let handler = Handler()
    let inside = Counter()
    var subscription: EventSubscription? = hub.subscribe(
      on: DispatchQueue(label: "queue"), options: [.once]
    ) { _ in
      if hub.flush(timeout: .seconds(timeLimit)) { inside.add() }
      handler.call()
    }
    hub.send(1)
    await onOwnThread { handler.began.wait() }
    #expect(inside.value == 1)
    switch how {
    case 0: subscription?.cancel()
    case 1: subscription = nil
    default: hub.cancelSubscriptions()
    }
    await hub.flush()
    #expect(handler.returned.value == 0)
    handler.mayEnd.open()
    await eventually { handler.returned.value == 1 }
    withExtendedLifetime(subscription) {}
  }

  @Test("the hub of topics may give up, too")
  func cancelledTopics() async {
    let hub = TopicHub<String, Int>()
    let handler = Handler()
    let subscription = hub.subscribe(to: "a", on: DispatchQueue(label: "queue"), options: [.once]) {
      _ in
      handler.call()
    }
    hub.send(1, to: "a")
    await onOwnThread { handler.began.wait() }
    hub.cancelSubscriptions()
    await hub.flush()
    #expect(handler.returned.value == 0)
    handler.mayEnd.open()
    await eventually { handler.returned.value == 1 }
    withExtendedLifetime(subscription) {}
  }

  @Test("of a topic that finished before the call", arguments: [Ordering.perSender, .total])
  func finishedTopic(ordering: Ordering) async {
    let hub = TopicHub<String, Int>(ordering: ordering)
    let handler = Handler()
    let queue = DispatchQueue(label: "queue")
    queue.suspend()
    let subscription = hub.subscribe(to: "a", on: queue, options: [.once]) { _ in handler.call() }
    hub.send(1, to: "a")
    hub.finish("a")
    queue.resume()
    await onOwnThread {
      handler.began.wait()
      #expect(!hub.flush(timeout: .zero))
      handler.mayEnd.open()
    }
    await hub.flush()
    #expect(handler.returned.value == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("that of all topics waits only for its own handlers")
  func allTopics() async {
    let hub = TopicHub<String, Int>()
    let (handler, observer) = (Handler(), Handler())
    let subscriptions = (
      hub.subscribe(to: "a", on: DispatchQueue(label: "queue"), options: [.once]) { _ in
        handler.call()
      },
      hub.allTopics.subscribe(on: DispatchQueue(label: "queue"), options: [.once]) { _ in
        observer.call()
      }
    )
    hub.send(1, to: "a")
    await onOwnThread {
      handler.began.wait()
      observer.began.wait()
      #expect(!hub.allTopics.flush(timeout: .zero))
      observer.mayEnd.open()
      #expect(hub.allTopics.flush(timeout: .seconds(timeLimit)))
      #expect(handler.returned.value == 0 && !hub.flush(timeout: .zero))
      handler.mayEnd.open()
    }
    await hub.flush()
    #expect(handler.returned.value == 1)
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "of a handler with several limits",
    arguments: [[1, 1], [2, 2], [1, 2], [2, 1], [2, 2, 2]])
  func severalLimits(limits: [Int]) async {
    let hub = EventHub<Int>()
    let handler = Handler(limit: limits.min()!)
    let subscription = hub.subscribe(
      options: [.combining(limits.map { .first($0) })], maxConcurrentCalls: 2
    ) { _ async in await handler.callSuspending() }
    for event in 0..<4 { hub.send(event) }
    await onOwnThread {
      handler.began.wait()
      #expect(!hub.flush(timeout: .zero))
      handler.mayEnd.open()
    }
    await hub.flush()
    #expect(handler.returned.value == handler.limit)
    withExtendedLifetime(subscription) {}
  }

  @Test("not if the subscription is cancelled while the call ends it")
  func cancelledMeanwhile() async {
    await onOwnThread {
      for round in 0..<20_000 {
        let hub = EventHub<Int>()
        let handler = Handler()
        let began = Gate("the delivery")
        let subscription = hub.subscribe(
          on: .global(),
          options: [
            .once,
            .intercepting { call in
              began.open()
              call()
            } async: {
              await $0()
            },
          ]
        ) { _ in handler.mayEnd.wait() }
        hub.send(1)
        began.wait()
        for _ in 0..<round % 32 { _ = subscription.isActive }
        subscription.cancel()
        #expect(hub.flush(timeout: .zero))
        handler.mayEnd.open()
        guard subscription.cancelAndWait(timeout: .seconds(timeLimit)) else { return }
      }
    }
  }

  @Test("a limit that was not reached keeps nothing")
  func cancelledBefore() async {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<Int>()
      let held = RecordingActor(tracker: tracker)
      let subscription = hub.subscribe(options: [.first(2)]) { _ in
        withExtendedLifetime(held) {}
      }
      hub.send(1)
      subscription.cancel()
      await hub.flush()
    }
    #expect(tracker.live == 0)
  }

  @Test("nothing is kept after the last call", arguments: [1, 5])
  func lifetime(limit: Int) async {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<Int>()
      let held = RecordingActor(tracker: tracker)
      let subscriptions = [
        hub.subscribe(on: .global(), options: [.first(limit)]) { _ in
          withExtendedLifetime(held) {}
        },
        hub.subscribe(options: [.first(limit)], maxConcurrentCalls: 2) { _ async in
          withExtendedLifetime(held) {}
        },
      ]
      for event in 0..<5 { hub.send(event) }
      await hub.flush()
      #expect(subscriptions.allSatisfy { !$0.isActive })
    }
    await eventually { tracker.live == 0 }
  }
}
