import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A handler that belongs to an actor is called on it, in a later turn, in send order")
struct IsolatedHandlerTests {
  @Test("a closure written on the main actor uses its state; it is not called inside send")
  @MainActor func mainActor() async {
    let hub = EventHub<Int>()
    var received: [Int] = []
    let subscription = hub.subscribe { received.append($0) }
    for value in 0..<1000 { #expect(hub.send(value) == 1) }
    #expect(received == [], "a later turn")
    while received.count < 1000 { await Task.yield() }
    #expect(received == Array(0..<1000))
    #expect(subscription.statistics?.delivered ?? 0 >= 960)
  }

  @Test("each sender's events come in order, from many threads", arguments: [1, 4])
  func manySenders(senders: Int) async {
    let hub = EventHub<Int>()
    let station = Station()
    let perSender = 2000
    hub.subscribe(with: station) { station, value in
      station.assertIsolated()
      station.receive(value)
    }
    runThreads(senders) { sender in
      for index in 0..<perSender { hub.send(sender * perSender + index) }
    }
    await yieldTask { await station.received.count == senders * perSender }
    let received = await station.received
    for sender in 0..<senders {
      #expect(
        received.filter { $0 / perSender == sender }
          == Array(sender * perSender..<(sender + 1) * perSender))
    }
  }

  @Test("a method that is passed as a function runs on its actor")
  func method() async {
    let hub = EventHub<Int>()
    let station = Station()
    let subscription = await station.perform { station in hub.subscribe(station.receiveChecked) }
    for value in 0..<100 { hub.send(value) }
    await yieldTask { await station.received.count == 100 }
    #expect(await station.received == Array(0..<100))
    subscription.cancel()
  }

  @Test(
    "a flush by a handler waits for a sequence whose latest event another handler received",
    arguments: [false, true])
  @MainActor func flushAfterReceiving(isBurst: Bool) async {
    let (events, requests, checks) = (EventHub<Int>(), EventHub<Int>(), EventHub<Int>())
    let iterator = events.events().makeAsyncIterator()
    var received: [Int?] = []
    var isFlushed: [Bool] = []
    let subscriptions = [
      requests.subscribe { _ in received.append(iterator.nextIfAvailable()) },
      checks.subscribe { _ in isFlushed.append(events.flush(timeout: .zero)) },
    ]
    events.send(1)
    for _ in 0..<2 {
      requests.send(0)
      if !isBurst {
        await requests.flush()
        // The task of the first handler may wait for the next one.
        for _ in 0..<100 { await Task.yield() }
      }
      checks.send(0)
      await checks.flush()
    }
    #expect(received == [1, nil])
    #expect(isFlushed == [false, true])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("a burst wakes the actor once, however many handlers it has")
  func oneWakeUp() async {
    let hub = EventHub<Int>()
    let station = Station()
    for _ in 0..<10 { hub.subscribe(with: station) { station, value in station.receive(value) } }
    station.executor.queue.suspend()
    for value in 0..<1000 { #expect(hub.send(value) == 10) }
    #expect(station.executor.jobs.value == 1)
    station.executor.queue.resume()
    // `perform` is a job too, hence no polling through the actor.
    await eventually { hub.statistics.pending == 0 }
    #expect(station.executor.jobs.value <= 10_000 / 64 + 2, "a job makes at least 64 calls")
    #expect(await station.received.count == 10_000)
  }

  @Test("other work of the actor runs between the calls of a long burst")
  func fairness() async {
    let hub = EventHub<Int>()
    let station = Station()
    hub.subscribe(with: station) { station, value in
      station.receive(value)
      let end = ContinuousClock.now.advanced(by: .microseconds(2))
      while ContinuousClock.now < end {}
    }
    station.executor.queue.suspend()
    for value in 0..<1000 { hub.send(value) }
    async let seen = station.received.count
    await eventually { station.executor.jobs.value == 2 }
    station.executor.queue.resume()
    #expect(await seen == 64, "64 calls take longer than a job may")
    await yieldTask { await station.received.count == 1000 }
  }

  @Test("on: .sender calls inside send, also where code belongs to an actor")
  @MainActor func sender() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(on: .sender) { journal.record($0) }
    hub.send(1)
    #expect(journal.entries == [1])
    withExtendedLifetime(subscription) {}
  }

  @Test("code that belongs to no actor: the sender calls")
  func noActor() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe { journal.record($0) }
    hub.send(1)
    #expect(journal.entries == [1])
    withExtendedLifetime(subscription) {}
  }

  nonisolated(nonsending) private func subscribe(
    to hub: EventHub<Int>, _ journal: Journal
  ) async -> EventSubscription {
    hub.subscribe { journal.record($0) }
  }

  @Test("code that runs on the actor of its caller: the handler does, too")
  @MainActor func callersActor() async {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = await subscribe(to: hub, journal)
    #expect(hub.snapshot.receivers.first?.place == "actor MainActor")
    hub.send(1)
    #expect(journal.entries == [], "a later turn")
    await hub.flush()
    #expect(journal.entries == [1])
    withExtendedLifetime(subscription) {}
  }

  @Test("bounded buffers, statistics and finish work as on a queue")
  func buffers() async {
    let hub = EventHub<Int>()
    let station = Station()
    station.executor.queue.suspend()
    let subscription = hub.subscribe(
      with: station, buffering: .bounded(10, whenFull: .dropOldest)
    ) { station, value in station.receive(value) }
    for value in 0..<100 { hub.send(value) }
    hub.finish()
    #expect(subscription.end == .finished)
    #expect(subscription.statistics?.dropped == 90)
    station.executor.queue.resume()
    await eventually { subscription.statistics?.pending == 0 && hub.subscriberCount == 0 }
    #expect(await station.received == Array(90..<100))
    #expect(subscription.statistics?.delivered == 10)
  }

  @Test("the replay comes first, on the actor", arguments: [Ordering.perSender, .total])
  func replay(ordering: Ordering) async {
    let hub = EventHub<Int>(replay: 3, ordering: ordering)
    for value in 0..<10 { hub.send(value) }
    let station = Station()
    hub.subscribe(with: station) { station, value in station.receive(value) }
    hub.send(10)
    await yieldTask { await station.received.count == 4 }
    #expect(await station.received == [7, 8, 9, 10])
  }

  @Test("topics deliver to actors")
  func topics() async {
    let hub = TopicHub<String, Int>()
    let station = Station()
    hub.subscribe(to: "a", with: station) { station, value in station.receive(value) }
    let subscription = await station.perform { station in
      hub.subscribe(to: "b") { station.receive($0) }
    }
    for value in 0..<10 { hub.send(value, to: value % 2 == 0 ? "a" : "b") }
    await yieldTask { await station.received.count == 10 }
    #expect(await station.received.sorted() == Array(0..<10))
    withExtendedLifetime(subscription) {}
  }
}

extension Station {
  func receiveChecked(_ value: Int) {
    assertIsolated()
    received.append(value)
  }
}
