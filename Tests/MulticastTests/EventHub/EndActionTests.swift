import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("onEnd is called once, after the last event, where the handler is called")
struct EndActionTests {
  @Test("of several options each action is called, in their order")
  func severalOptions() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(
      on: .sender,
      options: [
        .onEnd { _, _ in journal.record(1) },
        .combining([.onEnd { _, _ in journal.record(2) }, .onEnd { _, _ in journal.record(3) }]),
      ]
    ) { _ in }
    hub.finish()
    #expect(journal.entries == [1, 2, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test("called exactly if the end of the hub comes first", arguments: StorageStrategy.allCases)
  func besideCancellations(_ storage: StorageStrategy) async {
    let count = 100
    for _ in 0..<40 {
      let hub = EventHub<Int>(storage: storage)
      let ends = (0..<count).map { _ in Counter() }
      let subscriptions = ends.map { ends in
        hub.subscribe(on: .sender, options: [.onEnd { _, _ in ends.add() }]) { _ in }
      }
      await onOwnThread {
        runThreads(2) { thread in
          if thread == 0 { hub.finish() } else { for each in subscriptions { each.cancel() } }
        }
      }
      for (subscription, ends) in zip(subscriptions, ends) {
        #expect(ends.value == (subscription.end == .finished ? 1 : 0))
      }
    }
  }

  private struct Broken: Error {}

  @Test("finish: inline, on a queue, on an actor and in a task", arguments: [false, true])
  func finish(replays: Bool) async {
    let hub = EventHub<Int>(replay: replays ? 1 : 0)
    let station = Station()
    let journals = (0..<4).map { _ in Journal() }
    let option: (Int) -> [SubscriberOption<Int>] = { index in
      [
        .onEnd { end, failure in
          journals[index].record(end == .finished && failure is Broken ? -1 : -2)
        }
      ]
    }
    var subscriptions = [
      hub.subscribe(on: .sender, options: option(0)) { journals[0].record($0) },
      hub.subscribe(on: DispatchQueue(label: "queue"), options: option(1)) {
        journals[1].record($0)
      },
      hub.subscribe(with: station, options: option(2)) { _, event in journals[2].record(event) },
      hub.subscribe(options: option(3)) { event in
        await Task.yield()
        journals[3].record(event)
      },
    ]
    for event in 0..<100 { hub.send(event) }
    hub.finish(throwing: Broken())
    hub.finish()
    await eventually { journals.allSatisfy { $0.entries.count == 101 } }
    for journal in journals { #expect(journal.entries == Array(0..<100) + [-1]) }
    for subscription in subscriptions { subscription.cancel() }
    subscriptions = []
    await hub.flush()
    for journal in journals { #expect(journal.entries.count == 101) }
  }

  @Test("where the handler is called, also after the end of a hub whose replay is empty")
  func afterTheEnd() async {
    let hub = EventHub<Int>(replay: 1)
    hub.finish()
    let ends = Journal()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let onQueue = hub.subscribe(on: queue, options: [.onEnd { _, _ in ends.record(1) }]) { _ in }
    #expect(ends.entries.isEmpty)
    queue.resume()
    await eventually { ends.entries == [1] }
    let station = Station()
    hub.subscribe(
      with: station,
      options: [
        .onEnd { _, _ in
          station.assertIsolated()
          ends.record(2)
        }
      ]
    ) { _, _ in }
    await eventually { ends.entries == [1, 2] }
    withExtendedLifetime(onQueue) {}
  }

  @Test("a full buffer that disconnects: with that reason, after what waits")
  func disconnected() async {
    let hub = EventHub<Int>()
    let station = Station()
    let journal = Journal()
    station.executor.queue.suspend()
    hub.subscribe(
      with: station, buffering: .bounded(2, whenFull: .disconnect),
      options: [.onEnd { end, _ in journal.record(end == .disconnected ? -1 : -2) }]
    ) { _, event in journal.record(event) }
    for event in 0..<5 { hub.send(event) }
    station.executor.queue.resume()
    await eventually { journal.entries.count == 3 }
    #expect(journal.entries == [0, 1, -1])
  }

  @Test("a full buffer that disconnects: without the error of a hub that finishes afterwards")
  func disconnectedBeforeAFailure() async {
    let hub = EventHub<Int>()
    let ends = Journal()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let subscription = hub.subscribe(
      on: queue, buffering: .bounded(1, whenFull: .disconnect),
      options: [
        .onEnd { end, failure in ends.record(end == .disconnected && failure == nil ? 1 : 0) }
      ]
    ) { _ in }
    for event in 0..<2 { hub.send(event) }
    hub.finish(throwing: Broken())
    queue.resume()
    await eventually { ends.entries.count == 1 }
    #expect(ends.entries == [1])
    #expect(subscription.end == .disconnected && subscription.failure == nil)
  }

  @Test("not for a subscription that is cancelled, or whose owner is gone")
  func cancelled() async {
    let hub = EventHub<Int>()
    let ends = Counter()
    let options: [SubscriberOption<Int>] = [.onEnd { _, _ in ends.add() }]
    let queue = DispatchQueue(label: "queue")
    hub.subscribe(options: options) { _ in }.cancel()
    hub.subscribe(on: queue, options: options) { _ in }.cancel()
    hub.subscribe(options: options) { _ in await Task.yield() }.cancel()
    var owner: RecordingObserver? = RecordingObserver()
    hub.subscribe(with: owner!, options: options) { _, _ in }
    hub.subscribe(with: owner!, on: queue, options: options) { _, _ in }
    owner = nil
    hub.send(1)
    await hub.flush()
    hub.finish()
    await hub.flush()
    queue.sync {}
    #expect(ends.value == 0)
  }

  @Test("a flush does not wait for the action")
  func flush() async {
    let hub = EventHub<Int>()
    let (entered, leave) = (Gate("entered"), Gate("leave"))
    let handled = Counter()
    let action = SubscriberOption<Int>.onEnd { _, _ in
      entered.open()
      leave.wait()
    }
    let subscription = hub.subscribe(on: DispatchQueue(label: "queue"), options: [action]) { _ in
      handled.add()
    }
    hub.send(1)
    hub.finish()
    entered.wait()
    await hub.flush()
    #expect(handled.value == 1)
    leave.open()
    withExtendedLifetime(subscription) {}
  }

  @Test(
    "not if the subscription is cancelled after the end, before its queue has come to the end",
    arguments: [false, true])
  func cancelledAfterTheEnd(isWaiting: Bool) async {
    let hub = EventHub<Int>()
    let (handled, ends) = (Counter(), Counter())
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let subscription = hub.subscribe(on: queue, options: [.onEnd { _, _ in ends.add() }]) { _ in
      handled.add()
    }
    if isWaiting { hub.send(1) }
    hub.finish()
    if !isWaiting { await hub.flush() }
    subscription.cancel()
    #expect(subscription.end == .finished && !subscription.isActive)
    queue.resume()
    queue.sync {}
    await hub.flush()
    #expect(handled.value == 0 && ends.value == 0)
  }

  @Test("not if the owner or the actor goes after the end, while events wait or during a block")
  func goneAfterTheEnd() async {
    for isBlocked in [false, true] {
      let hub = EventHub<Int>()
      let (handled, ends) = (Counter(), Counter())
      let options: [SubscriberOption<Int>] = [.onEnd(isolation: nil) { _, _ in ends.add() }]
      let queue = DispatchQueue(label: "suspended")
      queue.suspend()
      let tracker = LifetimeTracker()
      var owner: RecordingObserver? = RecordingObserver(tracker: tracker)
      var station: Station? = Station(tracker: tracker)
      var subscriptions = [
        hub.subscribe(with: owner!, on: queue, options: options) { _, _ in handled.add() }
      ]
      if isBlocked {
        subscriptions += [
          hub.subscribe(with: owner!, options: options) { _, _ async in handled.add() },
          await station!.subscribe(hub, options: options, handled),
          await station!.subscribeAsync(hub, options: options, handled),
        ]
        for subscription in subscriptions { subscription.block() }
      } else {
        hub.send(1)
      }
      hub.finish()
      (owner, station) = (nil, nil)
      await eventually { tracker.live == 0 }
      if isBlocked { for subscription in subscriptions { subscription.unblock() } }
      queue.resume()
      #expect(await hub.waitForNoSubscribers())
      queue.sync {}
      #expect(handled.value == 0 && ends.value == 0)
      #expect(subscriptions.allSatisfy { $0.end == .finished })
    }
  }

  @Test("an action that belongs to an actor is called there")
  func isolated() async {
    let hub = EventHub<Int>()
    let station = Station()
    let subscription = await station.perform { station in
      hub.subscribe(
        options: [
          .onEnd { _, _ in
            station.assertIsolated()
            station.receive(-1)
          }
        ]
      ) { station.receive($0) }
    }
    for event in 0..<100 { hub.send(event) }
    hub.finish()
    await yieldTask { await station.received.count == 101 }
    #expect(await station.received == Array(0..<100) + [-1])
    withExtendedLifetime(subscription) {}
  }

  @Test("an action that is written on an actor does not keep it alive")
  func actorThatGoes() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<Int>()
    let ends = Counter()
    var station: Station? = Station(tracker: tracker)
    await station!.follow(hub, endedBy: ends)
    let subscription = await station!.subscribe(elsewhere: hub, endedBy: ends)
    station = nil
    await eventually { tracker.live == 0 }
    hub.send(1)
    #expect(hub.subscriberCount == 1)
    hub.finish()  // The owner of the first is gone, and the other one has no owner.
    #expect(ends.value == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("cancelled or finished, never both, in every race")
  func race() {
    struct State: Sendable {
      let hub = EventHub<Int>()
      let ends = Counter()
      let subscription: EventSubscription

      init() {
        subscription = hub.subscribe(options: [.onEnd { [ends] _, _ in ends.add() }]) { _ in }
      }
    }
    let outcomes = MulticastTestSupport.race(
      rounds: 2000, setUp: { State() },
      actors: [{ $0.hub.finish() }, { $0.subscription.cancel() }],
      outcome: { $0.ends.value })
    #expect(outcomes.keys.allSatisfy { $0 <= 1 })
  }
}

extension Station {
  fileprivate func follow(_ hub: EventHub<Int>, endedBy ends: Counter) {
    hub.subscribe(with: self, options: [.onEnd { _, _ in ends.add() }]) { station, event in
      station.receive(event)
    }
  }

  fileprivate func subscribe(
    _ hub: EventHub<Int>, options: [SubscriberOption<Int>], _ handled: Counter
  ) -> EventSubscription {
    hub.subscribe(options: options) { _ in handled.add() }
  }

  fileprivate func subscribeAsync(
    _ hub: EventHub<Int>, options: [SubscriberOption<Int>], _ handled: Counter
  ) -> EventSubscription {
    hub.subscribe(options: options) { _ async in handled.add() }
  }

  fileprivate func subscribe(
    elsewhere hub: EventHub<Int>, endedBy ends: Counter
  ) -> EventSubscription {
    hub.subscribe(on: .sender, options: [.onEnd { _, _ in ends.add() }]) { _ in }
  }
}
