import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("A hub hands each event to every subscriber")
struct EventHubTests {
  @Test("to handlers, queues and sequences", arguments: StorageStrategy.allCases)
  func everyKindOfSubscriber(_ strategy: StorageStrategy) async {
    let hub = EventHub<Int>(storage: strategy)
    let inline = Journal()
    let queued = Journal()
    let queue = DispatchQueue(label: "queue", attributes: .concurrent)
    let subscriptions = [
      hub.subscribe { inline.record($0) },
      hub.subscribe(on: queue) { queued.record($0) },
    ]
    let sequence = hub.events()
    #expect(hub.subscriberCount == 3)
    for event in 0..<100 { #expect(hub.send(event) == 3) }
    hub.finish()
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == Array(0..<100))
    #expect(inline.entries == Array(0..<100))
    await eventually { queued.entries.count == 100 }
    #expect(queued.entries == Array(0..<100))
    #expect(subscriptions.allSatisfy { $0.end == .finished })
    #expect(hub.subscriberCount == 0)
  }

  @Test("no event between subscribe and the first send is dropped")
  func registeredWhenItReturns() async {
    for _ in 0..<200 {
      let hub = EventHub<Int>()
      let sequence = hub.events()
      hub.send(1)
      let iterator = sequence.makeAsyncIterator()
      #expect(await iterator.next() == 1)
    }
  }

  @Test("a subscription ends with its handle; one with an owner ends with the owner")
  func lifetimes() async {
    let hub = EventHub<Int>()
    let journal = Journal()
    var subscription: EventSubscription? = hub.subscribe { journal.record($0) }
    hub.send(1)
    #expect(subscription?.isActive == true)
    subscription = nil
    hub.send(2)
    #expect(journal.take() == [1])

    let tracker = LifetimeTracker()
    var owner: RecordingObserver? = RecordingObserver(tracker: tracker)
    hub.subscribe(with: owner!) { owner, event in
      owner.receive(event)
      journal.record(event)
    }
    hub.subscribe(with: owner!, on: .global()) { owner, event in owner.receive(event) }
    #expect(hub.send(3) == 2)
    #expect(journal.take() == [3])
    await eventually { [owner] in owner?.calls == 2 }
    #expect(hub.subscriberCount == 2)
    owner = nil
    await eventually { tracker.live == 0 }
    #expect(hub.subscriberCount == 0)
    #expect(hub.send(4) == 0)
    #expect(journal.entries.isEmpty)
  }

  @Test("a filter keeps what a subscriber does not want out of its buffer")
  func filter() async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .bounded(2, whenFull: .dropNewest)) { $0 % 10 == 0 }
    let journal = Journal()
    let subscription = hub.subscribe(where: { $0 > 15 }) { journal.record($0) }
    for event in 0..<20 { hub.send(event) }
    hub.finish()
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [0, 10])
    #expect(journal.entries == [16, 17, 18, 19])
    withExtendedLifetime(subscription) {}
  }

  @Test("first(where:) gets one event and leaves nothing behind")
  func firstWhere() async {
    let hub = EventHub<Int>()
    async let first = hub.first { $0 > 2 }
    await eventually { hub.subscriberCount == 1 }
    for event in 0..<6 { hub.send(event) }
    #expect(await first == 3)
    #expect(hub.subscriberCount == 0)
    async let none = hub.first { $0 > 100 }
    await eventually { hub.subscriberCount == 1 }
    hub.finish()
    #expect(await none == nil)
  }

  // MARK: Finish

  @Test("send after finish: 0, counted; subscribing after finish: ended")
  func afterFinish() async {
    let hub = EventHub<Int>(replay: 3)
    hub.send(1)
    hub.finish()
    hub.finish()
    #expect(hub.send(2) == 0)
    await hub.sendWaiting(3)
    hub.send(contentsOf: [4, 5])
    #expect(hub.statistics.refused == 4)
    let subscription = hub.subscribe(on: .global()) { _ in }
    #expect(!subscription.isActive || subscription.end == .finished)
    let handler = EventHub<Int>()
    handler.finish()
    let ended = handler.subscribe { _ in Issue.record("called after finish") }
    #expect(!ended.isActive && ended.end == .finished)
    for await _ in handler.events() { Issue.record("an event after finish") }
    // A late subscriber to a hub that replays still gets the past, and then the end.
    var replayed: [Int] = []
    for await event in hub.events() { replayed.append(event) }
    #expect(replayed == [1])
  }

  @Test("finish racing subscribe: every sequence ends")
  func finishRacingSubscribe() async {
    let outcomes = await onOwnThread {
      race(
        rounds: 500, setUp: { EventHub<Int>() },
        actors: [
          { $0.finish() },
          { hub in
            let done = Gate("sequence ended")
            let sequence = hub.events()
            Task {
              for await _ in sequence {}
              done.open()
            }
            done.wait()
          },
        ], outcome: { $0.subscriberCount })
    }
    #expect(outcomes == [0: 500])
  }

  @Test("a limit below 1 is a precondition failure that names it")
  func limitBelowOne() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = BufferingPolicy<Int>.bounded(-3, whenFull: .suspend)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("a buffer limit of -3"))
  }

  // MARK: Hooks

  @Test("the first subscriber starts the source, and the last one stops it")
  func hooks() {
    let journal = Journal()
    let hub = EventHub<Int>(
      onFirstSubscriber: { journal.record(1) }, onLastSubscriber: { journal.record(0) })
    #expect(journal.entries.isEmpty)
    var first: EventSubscription? = hub.subscribe { _ in }
    var second: EventSubscription? = hub.subscribe(on: .main) { _ in }
    #expect(journal.entries == [1])
    first?.cancel()
    first = nil
    #expect(journal.entries == [1])
    second = nil
    #expect(journal.entries == [1, 0])
    var sequence: EventSequence<Int>? = hub.events()
    #expect(journal.entries == [1, 0, 1])
    _ = sequence
    sequence = nil
    #expect(journal.entries == [1, 0, 1, 0])
    _ = second
  }

  @Test("hooks alternate, also when many threads subscribe and cancel")
  func hooksTakeTurns() {
    let journal = Journal()
    let hub = EventHub<Int>(
      onFirstSubscriber: { journal.record(1) }, onLastSubscriber: { journal.record(0) })
    runThreads(4) { _ in
      for _ in 0..<500 { hub.subscribe { _ in }.cancel() }
    }
    let entries = journal.entries
    #expect(entries.count % 2 == 0)
    #expect(entries.enumerated().allSatisfy { $0.element == 1 - $0.offset % 2 })
  }

  @Test("an event counts as delivered when next() has returned it")
  func exactStatistics() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    for event in 0..<200 { hub.send(event) }
    for returned in 1...200 {
      #expect(await iterator.next() == returned - 1)
      #expect(iterator.statistics.delivered == returned)
      #expect(iterator.statistics.pending == 200 - returned)
      #expect(hub.statistics.pending == 200 - returned)
    }
    var noting = hub.events(buffering: .latest).notingDrops().makeAsyncIterator()
    for event in 0..<3 { hub.send(event) }
    _ = await noting.next()
    // The note was returned, the event was not.
    #expect(noting.statistics.delivered == 0 && noting.statistics.pending == 1)
    _ = await noting.next()
    #expect(noting.statistics.delivered == 1 && noting.statistics.pending == 0)
  }
}
