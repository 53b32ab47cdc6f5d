import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

/// An event with a key.
private struct Keyed: Sendable, Hashable {
  var key: Int
  var value: Int
}

@Suite("A hub that replays has one order, that in which it keeps the events")
struct ReplayOrderTests {
  @Test(
    "all subscribers see one order, under concurrent senders",
    arguments: Ordering.allCases, StorageStrategy.allCases)
  func oneOrder(_ ordering: Ordering, _ storage: StorageStrategy) async {
    let hub = EventHub<Int>(replay: 1, ordering: ordering, storage: storage)
    let journals = (0..<4).map { _ in Journal() }
    let subscriptions = journals.enumerated().map { index, journal in
      index < 2
        ? hub.subscribe { journal.record($0) } : hub.subscribe(on: .global()) { journal.record($0) }
    }
    let sequence = hub.events()
    let (senders, perSender) = (4, 500)
    runThreads(senders) { sender in
      for index in 0..<perSender { hub.send(index * senders + sender) }
    }
    await eventually { journals.allSatisfy { $0.entries.count == senders * perSender } }
    let order = journals[0].entries
    for sender in 0..<senders {
      #expect(
        order.filter { $0 % senders == sender }.elementsEqual(
          (0..<perSender).map { $0 * senders + sender }))
    }
    for journal in journals { #expect(journal.entries == order) }
    hub.finish()
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == order)
    var kept: [Int] = []
    for await event in hub.events() { kept.append(event) }
    #expect(kept == [order.last!])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("a handler that takes its time does not hold up what other senders left to its sender")
  func slowHandlerAfterManyTurns() {
    let (filtering, filterMayEnd) = (Gate("filtering"), Gate("the filter may end"))
    let (handling, handlerMayEnd) = (Gate("handling"), Gate("the handler may end"))
    let hub = EventHub<Int>(replay: 1)
    let sequence = hub.events {
      guard $0 == 0 else { return true }
      filtering.open()
      filterMayEnd.wait()
      return true
    }
    let iterator = sequence.makeAsyncIterator()
    let subscription = hub.subscribe { event in
      guard event == 0 else { return }
      handling.open()
      handlerMayEnd.wait()
    }
    let sender = RunningThread { hub.send(0) }
    filtering.wait()
    hub.send(contentsOf: 1...1000)
    filterMayEnd.open()
    handling.wait()
    #expect(iterator.statistics.enqueued == 1001)
    handlerMayEnd.open()
    sender.join()
    #expect(subscription.statistics?.delivered == 1001)
  }

  @Test("an event that is sent while the hub finishes is delivered and kept, or refused")
  func sentDuringFinish() {
    struct State: Sendable {
      let hub = EventHub<Int>(replay: 1)
      let received = Journal()
      let subscription: EventSubscription

      init() {
        subscription = hub.subscribe { [received] in received.record($0) }
        hub.send(0)
      }
    }
    let sent = 20
    let outcomes: [[Int]: Int] = race(
      rounds: 5_000,
      setUp: { State() },
      actors: [{ $0.hub.send(contentsOf: 1...sent) }, { $0.hub.finish() }],
      outcome: { state in
        let kept = Journal()
        let subscription = state.hub.subscribe { kept.record($0) }
        withExtendedLifetime(subscription) {}
        return [state.received.entries.last!, kept.entries.last!, state.hub.statistics.refused]
      })
    for outcome in outcomes.keys {
      #expect(outcome[0] == outcome[1], "what was received last, and what is kept")
      #expect(outcome[0] + outcome[2] == sent, "what was not received is refused")
    }
  }

  @Test(
    "a subscriber ends with the newest event that the hub keeps, for each policy",
    arguments: Ordering.allCases)
  func endsWithTheNewest(_ ordering: Ordering) async {
    for _ in 0..<300 {
      let hub = EventHub<Int>(replay: 1, ordering: ordering)
      let newest = (0..<2).map { _ in Newest() }
      let subscriptions = [
        hub.subscribe { newest[0].value = $0 },
        hub.subscribe(on: .global(), buffering: .latest) { newest[1].value = $0 },
      ]
      let sequences = [
        hub.events(buffering: .latest), hub.events(),
        hub.events(buffering: .coalescing { _ in 0 }),
      ]
      runThreads(2) { sender in for index in 0..<5 { hub.send(index * 2 + sender) } }
      hub.finish()
      var kept: Int?
      for await event in hub.events() { kept = event }
      let expected = kept
      for sequence in sequences {
        var last: Int?
        for await event in sequence { last = event }
        #expect(last == expected)
      }
      await eventually { newest.allSatisfy { $0.value == expected } }
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test("the newest event of each key, if events are coalesced", arguments: Ordering.allCases)
  func newestOfEachKey(_ ordering: Ordering) async {
    for _ in 0..<300 {
      let hub = EventHub<Keyed>(replay: 100, ordering: ordering)
      let sequence = hub.events(buffering: .coalescing(by: \.key))
      runThreads(2) { sender in
        for index in 0..<12 { hub.send(Keyed(key: index % 3, value: index * 2 + sender)) }
      }
      hub.finish()
      var kept: [Int: Int] = [:]
      for await event in hub.events() { kept[event.key] = event.value }
      var received: [Int: Int] = [:]
      for await event in sequence { received[event.key] = event.value }
      #expect(received == kept)
    }
  }

  @Test("a send from a handler comes behind the current event, for every subscriber")
  func reentrant() async {
    let hub = EventHub<Int>(replay: 1)
    let journals = (0..<2).map { _ in Journal() }
    let before = hub.events()
    let subscriptions = [
      hub.subscribe { journals[0].record($0) },
      hub.subscribe { [weak hub] event in if event < 3 { hub?.send(event + 1) } },
      hub.subscribe { journals[1].record($0) },
    ]
    let behind = hub.events()
    hub.send(0)
    hub.finish()
    for journal in journals { #expect(journal.entries == [0, 1, 2, 3]) }
    for sequence in [before, behind] {
      var received: [Int] = []
      for await event in sequence { received.append(event) }
      #expect(received == [0, 1, 2, 3])
    }
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "a handler that takes its time holds up the sender that calls it, and nothing else",
    arguments: Ordering.allCases)
  func slowHandler(_ ordering: Ordering) async {
    let hub = EventHub<Int>(replay: 1, ordering: ordering)
    let (entered, leave) = (Gate("entered"), Gate("leave"))
    let (slow, quick) = (Journal(), Journal())
    let subscriptions = [
      hub.subscribe { event in
        slow.record(event)
        guard event == 0 else { return }
        entered.open()
        leave.wait()
      },
      hub.subscribe { quick.record($0) },
    ]
    let sequence = hub.events()
    let sending = RunningThread { hub.send(0) }
    entered.wait()
    // Far more than a sender delivers before it calls handlers.
    for event in 1...1000 { hub.send(event) }
    #expect(quick.entries.suffix(1000) == Array(1...1000).suffix(1000))
    hub.finish()
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == Array(0...1000))
    #expect(slow.entries == [0])
    leave.open()
    sending.join()
    #expect(slow.entries == Array(0...1000))
    #expect(quick.entries == Array(0...1000))
    withExtendedLifetime(subscriptions) {}
  }

  @Test("a subscriber that comes after finish gets the replay, and then its end")
  func afterFinish() async {
    let hub = EventHub<Int>(replay: 2)
    for event in 0..<3 { hub.send(event) }
    hub.finish()
    let (inline, queued) = (Journal(), Journal())
    let queue = DispatchQueue(label: "queue")
    queue.suspend()
    let subscriptions = [
      hub.subscribe { inline.record($0) }, hub.subscribe(on: queue) { queued.record($0) },
    ]
    #expect(inline.entries == [1, 2])
    #expect(!subscriptions[0].isActive)
    #expect(subscriptions[0].end == .finished)
    // Nothing more will come, but the handler can still be called.
    #expect(subscriptions[1].end == .finished)
    #expect(subscriptions[1].isActive)
    queue.resume()
    await eventually { !subscriptions[1].isActive }
    #expect(queued.entries == [1, 2])
    let iterator = hub.events().makeAsyncIterator()
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == 2)
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .finished)
  }

  @Test(
    "a replay does not count for the limit of a buffer that suspends or disconnects",
    arguments: [OverflowPolicy.suspend, .disconnect])
  func replayBeyondTheLimit(_ whenFull: OverflowPolicy) async {
    let hub = EventHub<Int>(replay: 4)
    for event in 0..<4 { hub.send(event) }
    let sequence = hub.events(buffering: .bounded(1, whenFull: whenFull))
    let iterator = sequence.makeAsyncIterator()
    #expect(iterator.statistics.pending == 4)
    hub.send(4)
    #expect(iterator.end == nil)
    var received: [Int?] = []
    for _ in 0..<5 { received.append(await iterator.next()) }
    #expect(received == [0, 1, 2, 3, 4])
    // From here on the limit is what it is.
    hub.send(5)
    hub.send(6)
    #expect(iterator.statistics.dropped == 1)
    #expect(iterator.end == (whenFull == .disconnect ? .disconnected : nil))
    #expect(await iterator.next() == 5)
  }
}

/// The newest event that a handler was called with, or -1.
private final class Newest: Sendable {
  private let stored = Atomic(-1)

  var value: Int {
    get { stored.load(ordering: .sequentiallyConsistent) }
    set { stored.store(newValue, ordering: .sequentiallyConsistent) }
  }
}
