import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private enum Trace {
  @TaskLocal static var id = -1
}

@Suite("Isolated receivers: workers, methods of actors, flushes and options in combination")
struct IsolatedCombinationTests {
  @Test("parked elements wake as many workers as may run")
  func parkedElementsWakeWorkers() async {
    let hub = EventHub<Int>()
    let gate = AsyncGate()
    let running = Counter()
    let station = Station()
    station.executor.queue.suspend()
    hub.subscribe(
      with: station, buffering: .bounded(1, whenFull: .suspend), maxConcurrentCalls: 3
    ) { (station: isolated Station, _: Int) async in
      running.add()
      await gate.wait()
    }
    hub.send(0)
    let senders = (1..<3).map { event in Task { await hub.sendWaiting(event) } }
    await eventually { hub.statistics.pending >= 1 }
    station.executor.queue.resume()
    await eventually { running.value == 3 }
    gate.open()
    for sender in senders { #expect(await sender.value) }
  }

  @Test("methods of an actor that are passed as functions run on it, everywhere")
  func methods() async {
    let hub = EventHub<Int>()
    let topics = TopicHub<Int, Int>()
    let delegates = MulticastDelegate<Station>()
    let station = Station()
    let delegate = Station()
    delegates.add(delegate)
    let subscriptions = await station.subscribeMethods(hub, topics)
    await station.callMethods(delegates)
    hub.send(1)
    topics.send(1, to: 1)
    hub.finish()
    topics.finish()
    await delegates.flush()
    // 1 + 1 events, 1 end, and 1 + 1 + 1 calls.
    await yieldTask { await station.received.count == 6 }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("methods of an actor that receive their own subscription run on it, everywhere")
  func methodsWithSubscription() async {
    let hub = EventHub<Int>()
    let topics = TopicHub<String, Int>()
    let station = Station()
    let subscriptions = await station.subscribeMethodsWithSubscription(hub, topics)
    hub.send(1)
    topics.send(2, to: "a")
    await hub.flush()
    await topics.flush()
    #expect(await station.received.sorted() == [1, 1, 2, 2, 2, 2, 2, 2])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("keys that ended subscriptions carried cost a sender nothing more")
  func carriedKeysDoNotPileUp() async {
    let hub = EventHub<Int>(replay: 1)
    for _ in 0..<20_000 { hub.subscribe(options: [.carrying(Trace.$id)]) { _ in }.cancel() }
    let journal = Journal()
    let subscription = hub.subscribe(options: [.carrying(Trace.$id)]) { _ in
      journal.record(Trace.id)
    }
    runThreads(1) { _ in Trace.$id.withValue(5) { _ = hub.send(1) } }
    #expect(journal.entries == [5])
    withExtendedLifetime(subscription) {}
  }

  @Test("a flush of topics includes the subscribers of all topics")
  func flushOfAllTopics() async {
    let topics = TopicHub<Int, Int>()
    let journal = Journal()
    let subscription = topics.allTopics.subscribe { element in
      for _ in 0..<100 { await Task.yield() }
      journal.record(element.event)
    }
    let other = topics.subscribe(to: 1) { _ in }
    for event in 0..<10 { topics.send(event, to: event % 2) }
    await topics.flush()
    #expect(journal.entries == Array(0..<10))
    withExtendedLifetime((subscription, other)) {}
  }

  @Test("a blocked subscription that finishes ends after its last unblock")
  func blockedAndFinished() async {
    let hub = EventHub<Int>()
    let ends = Counter()
    let subscriptions = [
      hub.subscribe(options: [.onEnd { _, _ in ends.add() }]) { _ in await Task.yield() },
      hub.subscribe(on: .main, options: [.onEnd { _, _ in ends.add() }]) { _ in },
    ]
    for subscription in subscriptions { subscription.block() }
    hub.finish()
    for _ in 0..<100 { await Task.yield() }
    await MainActor.run {}
    #expect(ends.value == 0)
    for subscription in subscriptions { subscription.unblock() }
    await eventually { ends.value == 2 }
  }

  @Test("a handler that is unblocked during a send gets the event, in a hub that replays")
  func unblockedDuringASend() {
    let hub = EventHub<Int>(replay: 1)
    let held = Holder<EventSubscription>(nil)
    let journal = Journal()
    let first = hub.subscribe(on: .sender) { _ in held.value?.block() }
    held.value = hub.subscribe(on: .sender) { journal.record($0) }
    hub.send(1)
    #expect(journal.entries == [])
    held.value?.unblock()
    #expect(journal.entries == [1])
    held.value = nil
    withExtendedLifetime(first) {}
  }
}

extension Station {
  fileprivate func receiveAsync(_ value: Int) async { receiveChecked(value) }
  fileprivate func end(_ end: SubscriptionEnd, _ failure: (any Error)?) { receiveChecked(-1) }
  fileprivate func use(_ delegate: Station) { receiveChecked(-2) }

  fileprivate func subscribeMethods(
    _ hub: EventHub<Int>, _ topics: TopicHub<Int, Int>
  ) -> [EventSubscription] {
    [
      hub.subscribe(options: [.onEnd(end)], receiveAsync),
      topics.subscribe(to: 1, maxConcurrentCalls: 2, receiveAsync),
    ]
  }

  private func receive(_ subscription: EventSubscription, _ value: Int) { receiveChecked(value) }
  private func receive(_ subscription: EventSubscription, _ event: TopicEvent<String, Int>) {
    receiveChecked(event.event)
  }

  fileprivate func subscribeMethodsWithSubscription(
    _ hub: EventHub<Int>, _ topics: TopicHub<String, Int>
  ) -> [EventSubscription] {
    [
      hub.subscribe(receive),
      hub.subscribe(maxConcurrentCalls: 2, receive),
      topics.subscribe(to: "a", receive),
      topics.subscribe(to: "a", maxConcurrentCalls: 2, receive),
      topics.subscribe(matching: "*", receive),
      topics.subscribe(matching: "*", maxConcurrentCalls: 2, receive),
      topics.subscribe(matching: ["a", "b.>"], receive),
      topics.subscribe(matching: ["a", "b.>"], maxConcurrentCalls: 2, receive),
    ]
  }

  fileprivate func callMethods(_ delegates: MulticastDelegate<Station>) async {
    delegates.invokeIsolated(use)
    await delegates.forEachIsolated(use)
    _ = await delegates.resultsIsolated(use)
  }
}
