import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Many handlers of an actor: each has its own order, buffer and end")
struct ManyHandlersTests {
  /// What one handler has received.
  private final class Receiver: Sendable {
    let journal = Journal()
  }

  /// `count` handlers of `homes`, in turn.
  private func subscribe(
    _ count: Int, to hub: EventHub<Int>, on homes: [Station]
  ) -> [Receiver] {
    (0..<count).map { index in
      let receiver = Receiver()
      hub.subscribe(with: homes[index % homes.count]) { _, value in receiver.journal.record(value) }
      return receiver
    }
  }

  @Test(
    "each gets every event once, in order", arguments: [1, 63, 64, 65, 200], [1, 2],
  )
  func everyEvent(handlers: Int, actors: Int) async {
    let hub = EventHub<Int>()
    let homes = (0..<actors).map { _ in Station() }
    let receivers = subscribe(handlers, to: hub, on: homes)
    for value in 0..<300 { #expect(hub.send(value) == handlers) }
    await hub.flush()
    for receiver in receivers { #expect(receiver.journal.entries == Array(0..<300)) }
    #expect(hub.statistics.pending == 0)
    withExtendedLifetime(homes) {}
  }

  @Test(
    "an event is in the buffers before it when a filter or a handler sends another one",
    arguments: [false, true])
  func nested(byFilter: Bool) async {
    let hub = EventHub<Int>()
    let home = Station()
    let before = subscribe(70, to: hub, on: [home])
    let sendNext: @Sendable (Int) -> Void = { if $0 < 3 { hub.send($0 + 1) } }
    let middle =
      byFilter
      ? hub.subscribe(
        on: .global(),
        where: {
          sendNext($0)
          return true
        }
      ) { _ in }
      : hub.subscribe(on: .sender) { sendNext($0) }
    hub.send(0)
    await hub.flush()
    for receiver in before { #expect(receiver.journal.entries == [0, 1, 2, 3]) }
    withExtendedLifetime((home, middle)) {}
  }

  @Test("a full buffer applies its own policy, and others get the event")
  func fullBuffers() async {
    let hub = EventHub<Int>()
    let home = Station()
    home.executor.queue.suspend()
    let policies: [BufferingPolicy<Int>] = [
      .unbounded, .bounded(1, whenFull: .dropNewest), .bounded(1, whenFull: .dropOldest),
      .bounded(1, whenFull: .disconnect),
    ]
    let receivers = (0..<100).map { index in
      let receiver = Receiver()
      hub.subscribe(with: home, buffering: policies[index % 4]) { _, value in
        receiver.journal.record(value)
      }
      return receiver
    }
    #expect(hub.send(0) == 100)
    #expect(hub.send(1) == 50, "the unbounded ones, and those that drop the oldest")
    home.executor.queue.resume()
    await hub.flush()
    await eventually { hub.subscriberCount == 75 }
    for (index, receiver) in receivers.enumerated() {
      #expect(receiver.journal.entries == [[0, 1], [0], [1], [0]][index % 4])
    }
    #expect(hub.statistics.dropped == 75)
    withExtendedLifetime(home) {}
  }

  @Test(
    "delegates: each is called once for each invocation, in order, beside those without a place")
  func delegates() async {
    let hub = MulticastDelegate<any Receiving>()
    let home = Station()
    let journals = (0..<150).map { _ in Journal() }
    let observers = journals.map(ValueObserver.init)
    for (index, observer) in observers.enumerated() {
      if index % 70 == 69 { hub.add(observer) } else { hub.add(observer, on: home) }
    }
    for value in 0..<100 { hub.invoke { $0.receive(value) } }
    await hub.flush()
    for journal in journals { #expect(journal.entries == Array(0..<100)) }
    withExtendedLifetime((observers, home)) {}
  }

  /// An owner that ends with its first event.
  private final class Owner: Sendable {
    let tracker: LifetimeTracker
    init(_ tracker: LifetimeTracker) {
      self.tracker = tracker
      tracker.noteCreation()
    }
    deinit { tracker.noteDestruction() }
  }

  @Test("an owner is retained for exactly its call, also in the middle of a burst")
  func ownerEnds() async {
    let hub = EventHub<Int>()
    let home = Station()
    let tracker = LifetimeTracker()
    let journal = Journal()
    let last = Holder(Owner(tracker))
    await home.perform { [owner = last.value!] home in
      _ = hub.subscribe(with: owner) { _, value in
        home.assertIsolated()
        journal.record(value)
        last.value = nil
      }
    }
    home.executor.queue.suspend()
    for value in 0..<50 { hub.send(value) }
    home.executor.queue.resume()
    await eventually { tracker.created == tracker.destroyed }
    await hub.flush()
    #expect(journal.entries == [0])
  }

  /// An event that counts its life.
  private final class Event: Sendable {
    let sender: Int
    let number: Int
    let tracker: LifetimeTracker
    init(_ sender: Int, _ number: Int, _ tracker: LifetimeTracker) {
      self.sender = sender
      self.number = number
      self.tracker = tracker
      tracker.noteCreation()
    }
    deinit { tracker.noteDestruction() }
  }

  @Test("concurrent senders, and handlers that end: order, counts and lifetimes are right")
  func concurrent() async {
    let tracker = LifetimeTracker()
    let homes = [Station(), Station()]
    do {
      let hub = EventHub<Event>()
      let calls = (0..<100).map { _ in Journal() }
      let subscriptions = calls.enumerated().map { index, calls in
        hub.subscribe(with: homes[index % 2]) { _, event in
          calls.record(event.sender * 1_000_000 + event.number)
        }
      }
      runThreads(4) { thread in
        if thread == 3 {
          for index in stride(from: 0, to: 100, by: 3) { subscriptions[index].cancel() }
        } else {
          for number in 0..<500 { hub.send(Event(thread, number, tracker)) }
        }
      }
      await hub.flush()
      // A flush does not wait for a call that was running when its subscription was cancelled.
      await eventually { subscriptions.allSatisfy { ($0.statistics?.pending ?? 0) == 0 } }
      for (index, calls) in calls.enumerated() {
        for sender in 0..<3 {
          let numbers = calls.entries.filter { $0 / 1_000_000 == sender }.map { $0 % 1_000_000 }
          #expect(numbers == Array(0..<numbers.count), "in order, without a gap")
          if index % 3 != 0 { #expect(numbers.count == 500) }
        }
        let statistics = subscriptions[index].statistics
        #expect(statistics.map { $0.pending == 0 && $0.delivered == calls.entries.count } ?? true)
      }
      hub.finish()
    }
    await eventually { tracker.created == tracker.destroyed }
    #expect(tracker.created == 1500)
    withExtendedLifetime(homes) {}
  }
}

private protocol Receiving: AnyObject, Sendable {
  func receive(_ value: Int)
}

/// A delegate that writes what it receives into a journal.
private final class ValueObserver: Receiving {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func receive(_ value: Int) { journal.record(value) }
}

/// A variable that threads share.
private final class Holder<Value: Sendable>: Sendable {
  private let mutex: Guarded<Value?>
  init(_ value: Value) { mutex = Guarded(value) }
  var value: Value? {
    get { mutex.withLock { $0 } }
    set {
      let old = mutex.withLock { stored in
        defer { stored = newValue }
        return stored
      }
      withExtendedLifetime(old) {}
    }
  }
}
