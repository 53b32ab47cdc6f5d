import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A handler that receives its own subscription", .timeLimit(.minutes(10)))
struct OwnSubscriptionTests {
  @Test(
    "it can cancel itself, wherever it is called", arguments: StorageStrategy.allCases, [0, 1])
  func cancels(storage: StorageStrategy, replay: Int) async {
    let hub = EventHub<Int>(replay: replay, storage: storage)
    let (inline, queued, awaited, onMain) = (Journal(), Journal(), Journal(), Journal())
    let queue = DispatchQueue(label: "queue")
    let subscriptions = [
      hub.subscribe { subscription, event in
        inline.record(event)
        if event == 2 { subscription.cancel() }
      },
      hub.subscribe(on: queue) { subscription, event in
        queued.record(event)
        if event == 2 { subscription.cancel() }
      },
      hub.subscribe { subscription, event async in
        awaited.record(event)
        if event == 2 { subscription.cancel() }
      },
      hub.subscribe { @MainActor subscription, event in
        MainActor.assertIsolated()
        onMain.record(event)
        if event == 2 { subscription.cancel() }
      },
    ]
    for event in 1...4 { hub.send(event) }
    await eventually { subscriptions.allSatisfy { !$0.isActive } }
    #expect(subscriptions.allSatisfy { $0.end == .cancelled })
    for journal in [inline, queued, awaited, onMain] { #expect(journal.entries == [1, 2]) }
    hub.finish()
    #expect(subscriptions.allSatisfy { $0.end == .cancelled })
  }

  @Test("it is the subscription: its end, its counts, its block")
  func same() async {
    let hub = TopicHub<String, Int>()
    let queue = DispatchQueue(label: "queue")
    let journal = Journal()
    let subscription = hub.subscribe(to: "a", on: queue) { subscription, event in
      #expect(subscription.isActive && subscription.end == nil)
      #expect(subscription.statistics?.enqueued == 2)
      subscription.block()
      // Last, because the test cancels the subscription as soon as it sees both events.
      journal.record(event)
    }
    queue.suspend()
    hub.send(1, to: "a")
    hub.send(2, to: "a")
    queue.resume()
    await eventually { subscription.isBlocked && subscription.statistics?.delivered == 1 }
    subscription.unblock()
    await eventually { journal.entries == [1, 2] }
    let inline = hub.subscribe(to: "b") { subscription, _ in subscription.cancel() }
    let awaited = hub.subscribe(to: "c") { subscription, _ async in subscription.cancel() }
    hub.send(1, to: "b")
    hub.send(1, to: "c")
    await eventually { !inline.isActive && !awaited.isActive }
    subscription.cancel()
    // Another thread may still be ending the one with the asynchronous handler.
    await eventually { hub.topicCount == 0 }
  }

  @Test("an event that comes before `subscribe` returns finds it too")
  func duringSubscribe() {
    let source = Holder<EventHub<Int>>(nil)
    let hub = EventHub<Int>(onFirstSubscriber: { source.value?.send(1) })
    source.value = hub
    let journal = Journal()
    let subscription = hub.subscribe { subscription, event in
      journal.record(event)
      subscription.cancel()
    }
    source.value = nil
    hub.send(2)
    #expect(journal.entries == [1])
    #expect(subscription.end == .cancelled)
    let replaying = EventHub<Int>(replay: 2)
    replaying.send(contentsOf: [1, 2])
    let second = replaying.subscribe { subscription, event in
      journal.record(event)
      subscription.cancel()
    }
    #expect(journal.entries == [1, 1])
    #expect(!second.isActive)
  }

  @Test("the handle that `subscribe` returns still ends it, and nothing is kept")
  func lifetimes() async {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<Int>()
      for kind in 0..<4 {
        let observer = RecordingObserver(tracker: tracker)
        var subscription: EventSubscription?
        switch kind {
        case 0: subscription = hub.subscribe { _, event in observer.receive(event) }
        case 1: subscription = hub.subscribe(on: .global()) { _, event in observer.receive(event) }
        case 2: subscription = hub.subscribe { _, event async in observer.receive(event) }
        default: subscription = hub.subscribe(options: [.first(9)]) { observer.receive($0) }
        }
        hub.send(1)
        if kind > 0 { await eventually { observer.calls == 1 } }
        #expect(observer.calls == 1)
        if kind.isMultiple(of: 2) { subscription = nil } else { hub.finish() }
        _ = subscription
        if !kind.isMultiple(of: 2) { break }
      }
    }
    await eventually { tracker.live == 0 }
  }

  @Test("the two elements of an event that is a pair are no subscription and event")
  func pairs() {
    let hub = EventHub<(Int, Int)>()
    let journal = Journal()
    let subscription = hub.subscribe { first, second in journal.record(10 * first + second) }
    hub.send((1, 2))
    #expect(journal.entries == [12])
    withExtendedLifetime(subscription) {}
  }
}
