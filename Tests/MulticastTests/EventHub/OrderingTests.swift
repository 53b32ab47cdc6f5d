import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("Promise 6: each sender's events in order, and with a total order one order for all")
struct OrderingTests {
  @Test(
    "a filter is asked for every event, and a key for each that waits, if there is one order",
    arguments: [0, 1])
  func everyEvent(replay: Int) async {
    let hub = EventHub<Int>(replay: replay, ordering: .total)
    let (inline, queued) = (Journal(), Journal())
    let subscriptions = [
      hub.subscribe(on: .sender, where: { $0 % 2 == 0 }) { inline.record($0) },
      hub.subscribe(on: .global(), where: { $0 % 3 == 0 }) { queued.record($0) },
    ]
    let filtered = hub.events(where: { $0 % 4 == 0 })
    let newest = hub.events(buffering: .coalescing(by: { $0 % 2 }))
    for event in 0..<12 { hub.send(event) }
    hub.finish()
    await eventually { queued.entries.count == 4 }
    #expect(inline.entries == [0, 2, 4, 6, 8, 10])
    #expect(queued.entries == [0, 3, 6, 9])
    var received: [Int] = []
    for await event in filtered { received.append(event) }
    #expect(received == [0, 4, 8])
    received = []
    for await event in newest { received.append(event) }
    #expect(received == [10, 11])
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "what a filter or a key sends comes afterwards, if there is one order",
    arguments: [0, 1], [false, true])
  func sentByAFilter(_ replay: Int, _ byKey: Bool) async {
    let hub = EventHub<Int>(replay: replay, ordering: replay > 0 ? .perSender : .total)
    let send: @Sendable (Int) -> Bool = { event in
      if event < 3 { hub.send(event + 1) }
      return true
    }
    let first = byKey ? hub.events(buffering: .coalescing(by: send)) : hub.events(where: send)
    let second = hub.events()
    hub.send(0)
    hub.finish()
    var received: [Int] = []
    for await event in second { received.append(event) }
    #expect(received == [0, 1, 2, 3])
    withExtendedLifetime(first) {}
  }

  @Test(
    "perSender: each subscriber sees each sender's events in order",
    arguments: StorageStrategy.allCases)
  func perSender(_ strategy: StorageStrategy) async {
    let hub = EventHub<Int>(storage: strategy)
    let senders = 4
    let perSender = 1000
    let sequences = (0..<3).map { _ in hub.events() }
    let queued = Journal()
    let subscription = hub.subscribe(on: .global()) { queued.record($0) }
    runThreads(senders) { sender in
      for index in 0..<perSender { hub.send(index * senders + sender) }
    }
    hub.finish()
    for sequence in sequences {
      var latest = Array(repeating: -1, count: senders)
      var count = 0
      for await event in sequence {
        #expect(event > latest[event % senders])
        latest[event % senders] = event
        count += 1
      }
      #expect(count == senders * perSender)
    }
    await eventually { queued.entries.count == senders * perSender }
    withExtendedLifetime(subscription) {}
  }

  @Test(
    "total: all subscribers see one order, also under concurrent senders",
    arguments: StorageStrategy.allCases)
  func total(_ strategy: StorageStrategy) async {
    let hub = EventHub<Int>(ordering: .total, storage: strategy)
    let journals = [Journal(), Journal()]
    let subscriptions = journals.map { journal in hub.subscribe { journal.record($0) } }
    let sequences = (0..<2).map { _ in hub.events() }
    runThreads(4) { sender in
      for index in 0..<500 { hub.send(index * 4 + sender) }
    }
    await eventually { journals.allSatisfy { $0.entries.count == 2000 } }
    hub.finish()
    let order = journals[0].entries
    #expect(Set(order).count == 2000)
    #expect(journals[1].entries == order)
    for sequence in sequences {
      var received: [Int] = []
      for await event in sequence { received.append(event) }
      #expect(received == order)
    }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("total: a send from a handler is delivered after the current event")
  func reentrantTotal() {
    let hub = EventHub<Int>(ordering: .total)
    let first = Journal()
    let second = Journal()
    let subscriptions = [
      hub.subscribe { [weak hub] event in
        first.record(event)
        if event < 3 { hub?.send(event + 1) }
      },
      hub.subscribe { second.record($0) },
    ]
    hub.send(0)
    #expect(first.entries == [0, 1, 2, 3])
    #expect(second.entries == [0, 1, 2, 3])
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "total: a send from a handler returns the number of subscriptions",
    arguments: StorageStrategy.allCases)
  func reentrantTotalCount(strategy: StorageStrategy) {
    let hub = EventHub<Int>(ordering: .total, storage: strategy)
    let counts = Journal()
    var others = (0..<3).map { _ in hub.subscribe(where: { _ in false }) { _ in } }
    let subscription = hub.subscribe { [weak hub] event in
      if event == 0, let hub { counts.record(hub.send(1)) }
    }
    hub.send(0)
    others.removeLast()
    hub.send(0)
    others[0].cancel()
    hub.send(0)
    #expect(counts.entries == [4, 3, 2])
    withExtendedLifetime((subscription, others)) {}
  }

  @Test("perSender: a send from a handler is delivered at once")
  func reentrantPerSender() {
    let hub = EventHub<Int>()
    let second = Journal()
    let subscriptions = [
      hub.subscribe { [weak hub] event in if event < 3 { hub?.send(event + 1) } },
      hub.subscribe { second.record($0) },
    ]
    hub.send(0)
    #expect(second.entries == [3, 2, 1, 0])
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "perSender: what a handler sends comes behind the current event in every buffer",
    arguments: StorageStrategy.allCases)
  func reentrantBuffers(_ storage: StorageStrategy) async {
    let hub = EventHub<Int>(storage: storage)
    let queued = Journal()
    let queue = DispatchQueue(label: "queue")
    let before = hub.events()
    let subscriptions = [
      hub.subscribe { [weak hub] event in if event < 3 { hub?.send(event + 1) } },
      hub.subscribe(on: queue) { queued.record($0) },
    ]
    let behind = hub.events()
    #expect(hub.send(0) == 4)
    hub.finish()
    for sequence in [before, behind] {
      var received: [Int] = []
      for await event in sequence { received.append(event) }
      #expect(received == [0, 1, 2, 3])
    }
    await eventually { queued.entries == [0, 1, 2, 3] }
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "perSender: one that subscribes during a send does not get the event",
    arguments: StorageStrategy.allCases)
  func subscribingDuringASend(_ storage: StorageStrategy) async {
    let hub = EventHub<Int>(storage: storage)
    let late = Journal()
    let handles = Holder<[EventSubscription]>([])
    // The filter runs while the event goes into the buffers, before handlers are called.
    let sequence = hub.events { [weak hub] event in
      if event == 0, let hub { handles.value!.append(hub.subscribe { late.record($0) }) }
      return true
    }
    let first = hub.subscribe { _ in }
    #expect(hub.send(0) == 2)
    #expect(late.entries == [])
    hub.send(1)
    #expect(late.entries == [1])
    handles.value = nil
    withExtendedLifetime((first, sequence)) {}
  }

  @Test("total: no sender waits for a handler of another thread")
  func totalDoesNotBlock() {
    let hub = EventHub<Int>(ordering: .total)
    let entered = Gate("entered")
    let leave = Gate("leave")
    let journal = Journal()
    let subscription = hub.subscribe { event in
      if event == 0 {
        entered.open()
        leave.wait()
      }
      journal.record(event)
    }
    let thread = RunningThread { hub.send(0) }
    entered.wait()
    #expect(hub.send(1) == 1)  // Returns although the handler is busy with 0.
    #expect(journal.entries.isEmpty)
    leave.open()
    thread.join()
    #expect(journal.entries == [0, 1])
    withExtendedLifetime(subscription) {}
  }

  @Test("total: one that subscribes while events wait does not get them")
  func totalSubscribesLate() {
    let hub = EventHub<Int>(ordering: .total)
    let late = Journal()
    let holder = Holder<EventSubscription>(nil)
    let subscription = hub.subscribe { [weak hub] event in
      guard event == 0, let hub else { return }
      hub.send(1)
      holder.value = hub.subscribe { late.record($0) }
      hub.send(2)
    }
    hub.send(0)
    #expect(late.entries == [2])
    holder.value = nil
    withExtendedLifetime(subscription) {}
  }

  @Test("latest: a stale value never overwrites a newer one")
  func latestIsNewest() async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .latest)
    for event in 0..<1000 { hub.send(event) }
    hub.finish()
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [999])
  }
}
