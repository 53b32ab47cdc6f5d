import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("No lock is held while code of the user runs for a retention or its subscribers")
struct RetentionReentrancyTests {
  /// Does everything that takes a lock of the hub.
  private static func useAll(_ hub: EventHub<Int>, sending event: Int? = nil) {
    if let event { hub.send(event) }
    _ = hub.value
    _ = hub.newestPosition
    _ = hub.retainedEvents(from: .last(2))
    _ = hub.statistics
    hub.subscribe(from: .live, on: .sender) { _ in }.cancel()
    hub.subscribe(from: .retained, on: .global()) { _ in }.cancel()
    _ = hub.events(from: .retained)
  }

  @Test(
    "handlers of every kind may send, subscribe, read and cancel", arguments: FollowerKind.allCases)
  func handlers(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(1_000))
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .live) { [weak hub] element in
      follower.receive(element)
      guard let hub, let event = element.event else { return }
      Self.useAll(hub, sending: event < 100 ? event + 1 : nil)
    }
    hub.send(1)
    await eventually { follower.events.count == 100 }
    #expect(follower.events == Array(1...100))
    withExtendedLifetime(following) {}
    following.cancel()
  }

  private final class Leaving: Sendable {
    let number: Int
    private let action: @Sendable () -> Void

    init(_ number: Int, _ action: @escaping @Sendable () -> Void = {}) {
      self.number = number
      self.action = action
    }

    deinit { action() }
  }

  @Test("the deinit of an event that leaves while a handler on a queue subscribes may flush")
  func leavingAtTheBeginning() async {
    let hub = EventHub<Leaving>(replay: 1)
    let (flushes, handled) = (Journal(), Journal())
    hub.send(
      Leaving(1) { [weak hub] in
        if let hub { flushes.record(hub.flush(timeout: .seconds(2)) ? 1 : 0) }
      })
    let subscription = hub.subscribe(
      on: DispatchQueue(label: "queue"),
      where: { [weak hub] event in
        // The replay then has the second event only.
        if event.number == 1 { hub?.send(Leaving(2)) }
        return event.number > 1
      }
    ) { handled.record($0.number) }
    #expect(flushes.entries == [1])
    await hub.flush()
    #expect(handled.entries == [2])
    withExtendedLifetime(subscription) {}
  }

  @Test(
    "the deinit of an event that leaves while a subscriber of positions begins may flush",
    arguments: [FollowerKind.serialQueue, .sender, .sequence])
  func leavingAtTheBeginningOfPositions(_ kind: FollowerKind) async {
    let hub = EventHub<Leaving>(retention: .seconds(0.001))
    let flushes = Journal()
    hub.send(
      Leaving(1) { [weak hub] in
        guard let hub else { return }
        hub.send(Leaving(2))
        flushes.record(hub.flush(timeout: .seconds(2)) ? 1 : 0)
      })
    // Until the event is too old.
    let sent = ContinuousClock.now
    while sent.duration(to: .now) < .milliseconds(2) {}
    let following = await hub.follow(kind, from: .retained) { _ in }
    #expect(flushes.entries == [1])
    withExtendedLifetime(following) {}
    following.cancel()
  }

  @Test("sizes, keys and conditions may send and read")
  func rules() async {
    let holder = Guarded<EventHub<Int>?>(nil)
    let calls = Counter()
    @Sendable func use(_ event: Int, _ next: Int) -> Int {
      calls.add()
      if let hub = holder.withLock({ $0 }) {
        Self.useAll(hub, sending: event < 50 ? next : nil)
      }
      return 1
    }
    let sized = EventHub<Int>(retention: .bytes(20) { event in use(event, event + 50) })
    let keyed = EventHub<Int>(retention: .latestPerKey { use($0, $0 + 53) + $0 })
    // It is called after each event, also after those that it sends.
    let asked = Counter()
    let kept = EventHub<Int>(
      retention: .keeping { event in
        asked.add()
        return asked.value > 20 || use(event, 100) > 0
      })
    for hub in [sized, keyed, kept] {
      let follower = Follower<Int>()
      let following = await hub.follow(.sender, from: .live) { follower.receive($0) }
      holder.withLock { $0 = hub }
      for event in 1...10 { hub.send(event) }
      holder.withLock { $0 = nil }
      #expect(follower.events.filter { $0 <= 10 } == Array(1...10))
      #expect(follower.covers(after: 0, through: hub.newestPosition.number))
      withExtendedLifetime(following) {}
    }
    #expect(calls.value > 30)
  }

  @Test("hash and == of keys may send")
  func hashing() {
    let holder = Guarded<EventHub<Int>?>(nil)
    let hub = EventHub<Int>(
      retention: .latestPerKey { event in
        SendingKey(value: event % 3) { holder.withLock { $0 }?.send(100) }
      })
    holder.withLock { $0 = hub }
    hub.send(1)
    hub.send(2)
    // Each hash of an event has sent others, whose hash sends too: they are bounded here.
    holder.withLock { $0 = nil }
    hub.send(4)
    #expect(hub.retainedEvents().compactMap(\.event).filter { $0 < 100 } == [2, 4])
  }

  @Test("filters may send and read", arguments: FollowerKind.allCases)
  func filters(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(1_000))
    let follower = Follower<Int>()
    let following = await hub.follow(
      kind, from: .live,
      where: { [weak hub] event in
        if let hub { Self.useAll(hub, sending: event < 100 ? event + 1 : nil) }
        return event % 2 == 0
      }
    ) { follower.receive($0) }
    hub.send(1)
    await eventually { follower.events.count == 50 }
    #expect(follower.events == (1...100).filter { $0 % 2 == 0 })
    withExtendedLifetime(following) {}
    following.cancel()
  }

  @Test("the `deinit` of an evicted event may send, read and flush", arguments: 0..<4)
  func evicted(_ kind: Int) async {
    let retention: Retention<Sender> =
      [
        .last(3), .bytes(3) { _ in 1 }, .latestPerKey { $0.number % 3 }, .keeping { $0.number > 5 },
      ][
        kind]
    let hub = EventHub<Sender>(retention: retention)
    let (sent, flushed, tracker) = (Counter(), Counter(), LifetimeTracker())
    let onEnd: @Sendable (Int) -> Void = { [weak hub] number in
      guard let hub, number < 20 else { return }
      sent.add()
      hub.send(Sender(100 + number, tracker) { _ in })
      _ = hub.retainedEvents()
      _ = hub.newestPosition
      if number == 7, hub.flush(timeout: .seconds(300)) { flushed.add() }
    }
    await onOwnThread {
      for number in 0..<20 { hub.send(Sender(number, tracker, onEnd)) }
      for number in 20..<30 { hub.send(Sender(number, tracker) { _ in }) }
    }
    await eventually { sent.value == 20 || kind == 3 }
    // Of the last one, 6 is the oldest for ever.
    #expect(flushed.value == (kind == 3 ? 0 : 1))
    #expect(Int(hub.newestPosition.number) == 30 + sent.value)
  }

  @Test("the `deinit` of an event that a reader releases last may send")
  func lastInAReader() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<Sender>(retention: .last(2))
    var iterator = hub.events(from: .live).makeAsyncIterator()
    let sent = Counter()
    for number in 0..<2 {
      hub.send(
        Sender(number, tracker) { [weak hub] _ in
          sent.add()
          hub?.send(Sender(100, tracker) { _ in })
        })
    }
    #expect(await iterator.next()?.event?.number == 0)
    // The iterator has read both, and now has the only reference to the second one.
    for number in 2..<4 { hub.send(Sender(number, tracker) { _ in }) }
    #expect(await iterator.next()?.event?.number == 1)
    await eventually { sent.value == 2 }
    withExtendedLifetime(iterator) {}
  }

  @Test("one call at a time, in order, if several senders call an inline handler that sends")
  func concurrentInline() async {
    let hub = EventHub<Int>(retention: .all)
    let follower = Follower<Int>()
    let (running, overlaps) = (Guarded(0), Counter())
    let following = await hub.follow(.sender, from: .live) { [weak hub] element in
      let count = running.withLock { running in
        running += 1
        return running
      }
      if count != 1 { overlaps.add() }
      follower.receive(element)
      if let event = element.event, event % 3 == 0 { hub?.send(1) }
      running.withLock { $0 -= 1 }
    }
    runThreads(3) { _ in for event in 1...900 { hub.send(event) } }
    await hub.flush()
    #expect(overlaps.value == 0)
    #expect(follower.events.count == 3 * 900 + 3 * 300)
    #expect(follower.covers(after: 0, through: 3_600))
    withExtendedLifetime(following) {}
  }
}

/// An event that calls a function when it is destroyed.
private final class Sender: Sendable {
  let number: Int
  private let tracker: LifetimeTracker
  private let onEnd: @Sendable (Int) -> Void

  init(_ number: Int, _ tracker: LifetimeTracker, _ onEnd: @escaping @Sendable (Int) -> Void) {
    self.number = number
    self.tracker = tracker
    self.onEnd = onEnd
    tracker.noteCreation()
  }

  deinit {
    onEnd(number)
    tracker.noteDestruction()
  }
}

/// A key that calls a function when it is hashed or compared, the first few times.
private struct SendingKey: Hashable, Sendable {
  let value: Int
  let onUse: @Sendable () -> Void

  private static let uses = Counter()

  private func use() {
    Self.uses.add()
    if Self.uses.value < 20 { onUse() }
  }

  static func == (left: SendingKey, right: SendingKey) -> Bool {
    left.use()
    return left.value == right.value
  }

  func hash(into hasher: inout Hasher) {
    use()
    hasher.combine(value)
  }
}
