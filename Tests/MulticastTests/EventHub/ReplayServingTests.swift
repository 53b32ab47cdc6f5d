import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("A handler that senders call, in a hub that replays, has its events one at a time")
struct ReplayServingTests {
  private final class Owner: Sendable {}

  private final class TrackedEvent: Sendable {
    let number: Int
    private let tracker: LifetimeTracker

    init(_ number: Int, _ tracker: LifetimeTracker) {
      (self.number, self.tracker) = (number, tracker)
      tracker.noteCreation()
    }

    deinit { tracker.noteDestruction() }
  }

  /// A subscription, which a handler may use that is made before it.
  private final class Handle: Sendable {
    private let subscription = Guarded<EventSubscription?>(nil)

    var value: EventSubscription {
      get { subscription.withLock { $0! } }
      set { subscription.withLock { $0 = newValue } }
    }
  }

  private let hub = EventHub<Int>(replay: 1)
  private let journal = Journal()
  private let ends = Counter()
  private let owner = Owner()

  private func subscribe(
    withOwner: Bool, _ handler: @escaping @Sendable (Int) -> Void
  ) -> EventSubscription {
    let ends = ends
    let options: SubscriberOption<Int> = .onEnd { _, _ in ends.add() }
    return withOwner
      ? hub.subscribe(with: owner, on: .sender, options: [options]) { _, event in handler(event) }
      : hub.subscribe(on: .sender, options: [options], handler)
  }

  @Test("it cancels its subscription: nothing comes any more", arguments: [false, true])
  func cancelsItself(withOwner: Bool) {
    let (handle, tracker) = (Handle(), LifetimeTracker())
    let hub = EventHub<TrackedEvent>(initialValue: TrackedEvent(0, tracker))
    let record: @Sendable (TrackedEvent) -> Void = { [journal, weak hub] event in
      journal.record(event.number)
      guard event.number == 2 else { return }
      hub?.send(TrackedEvent(9, tracker))
      handle.value.cancel()
    }
    handle.value =
      withOwner
      ? hub.subscribe(with: owner, on: .sender) { _, event in record(event) }
      : hub.subscribe(on: .sender, record)
    for number in 1...3 { hub.send(TrackedEvent(number, tracker)) }
    #expect(journal.entries == [0, 1, 2])
    #expect(handle.value.end == .cancelled)
    #expect(hub.subscriberCount == 0)
    #expect(tracker.live == 1, "the hub keeps the newest event")
  }

  @Test("it blocks its subscription: what waits comes afterwards", arguments: [false, true])
  func blocksItself(withOwner: Bool) {
    let handle = Handle()
    handle.value = subscribe(withOwner: withOwner) { [hub, journal] event in
      journal.record(event)
      guard event == 1 else { return }
      hub.send(2)
      handle.value.block()
      hub.send(3)
    }
    hub.send(1)
    #expect(journal.entries == [1])
    handle.value.unblock()
    #expect(journal.entries == [1, 2], "the hub drops what is sent during a block")
    hub.send(4)
    #expect(journal.entries == [1, 2, 4])
    #expect(handle.value.statistics?.delivered == 3)
    handle.value.cancel()  // Its handler keeps the hub.
  }

  @Test("another handler blocks or cancels it before its call", arguments: [false, true])
  func blockedBefore(withOwner: Bool) {
    let (blocked, cancelled) = (Handle(), Handle())
    let first = hub.subscribe { event in
      if event == 1 {
        blocked.value.block()
        cancelled.value.cancel()
      }
    }
    blocked.value = subscribe(withOwner: withOwner) { [journal] in journal.record($0) }
    cancelled.value = subscribe(withOwner: withOwner) { [journal] in journal.record(-$0) }
    for event in 0...1 { hub.send(event) }
    #expect(journal.entries == [0, 0])
    #expect(cancelled.value.end == .cancelled)
    blocked.value.unblock()
    hub.send(2)
    #expect(journal.entries == [0, 0, 1, 2])
    #expect(blocked.value.statistics?.delivered == 3)
    #expect(cancelled.value.statistics == nil || cancelled.value.statistics?.delivered == 1)
    withExtendedLifetime(first) {}
  }

  @Test("it finishes the hub: the end comes once, after the call", arguments: [false, true])
  func finishes(withOwner: Bool) {
    let endsInCall = Counter()
    let subscription = subscribe(withOwner: withOwner) { [hub, journal, ends] event in
      journal.record(event)
      if event == 1 { hub.send(2) }
      if event == 2 { hub.finish() }
      endsInCall.add(ends.value)
    }
    hub.send(1)
    #expect(journal.entries == [1, 2])
    #expect(endsInCall.value == 0 && ends.value == 1)
    #expect(subscription.end == .finished && hub.subscriberCount == 0)
    hub.send(3)
    #expect(journal.entries == [1, 2])
  }

  @Test("it finishes the hub with its only event", arguments: [false, true])
  func finishesAtOnce(withOwner: Bool) {
    let subscription = subscribe(withOwner: withOwner) { [hub, journal] event in
      journal.record(event)
      hub.finish()
    }
    hub.send(1)
    #expect(journal.entries == [1])
    #expect(ends.value == 1)
    #expect(subscription.end == .finished && hub.subscriberCount == 0)
  }

  @Test("after cancelAndWait it is not called any more", arguments: [false, true])
  func cancelled(withOwner: Bool) async {
    for _ in 0..<300 {
      let isOver = Atomic(false)
      let lateCalls = Atomic<Int>(0)
      let handler: @Sendable (Int) -> Void = { _ in
        if isOver.load(ordering: .acquiring) { lateCalls.add(1, ordering: .relaxed) }
      }
      let subscription =
        withOwner
        ? hub.subscribe(with: owner, on: .sender) { _, event in handler(event) }
        : hub.subscribe(on: .sender, handler)
      await onOwnThread {
        runThreads(2) { thread in
          if thread == 0 {
            for event in 0..<20 { hub.send(event) }
          } else {
            subscription.cancelAndWait(timeout: .seconds(60))
            isOver.store(true, ordering: .releasing)
          }
        }
      }
      guard lateCalls.load(ordering: .relaxed) == 0 else {
        Issue.record("the handler was called after cancelAndWait had returned")
        break
      }
    }
    #expect(hub.subscriberCount == 0)
  }

  @Test("its owner goes before the call, or during it")
  func ownerGoes() {
    let first = Guarded<Owner?>(Owner())
    let second = Guarded<Owner?>(Owner())
    let before = first.withLock { owner in
      hub.subscribe(with: owner!, on: .sender) { [journal] _, event in journal.record(event) }
    }
    let during = second.withLock { owner in
      hub.subscribe(with: owner!, on: .sender) { [journal] owner, event in
        journal.record(10 + event)
        second.withLock { $0 = nil }
        withExtendedLifetime(owner) { journal.record(20 + event) }
      }
    }
    first.withLock { $0 = nil }
    for event in 1...2 { hub.send(event) }
    #expect(journal.entries == [11, 21])
    #expect(hub.subscriberCount == 0)
    #expect(!before.isActive && !during.isActive)
  }

  @Test("a flush waits for the call that runs, and not inside it", arguments: [false, true])
  func flush(withOwner: Bool) {
    let (entered, mayLeave) = (Gate("entered"), Gate("may leave"))
    let isFlushed = Guarded(false)
    let subscription = subscribe(withOwner: withOwner) { [hub] event in
      if event == 1 { isFlushed.withLock { $0 = hub.flush(timeout: .seconds(60)) } }
      guard event == 2 else { return }
      entered.open()
      mayLeave.wait()
    }
    hub.send(1)
    #expect(isFlushed.withLock { $0 }, "the call does not wait for itself")
    let sender = RunningThread { [hub] in hub.send(2) }
    entered.wait()
    #expect(!hub.flush(timeout: .zero))
    isFlushed.withLock { $0 = false }
    let flushing = RunningThread { [hub] in
      let result = hub.flush(timeout: .seconds(60))
      isFlushed.withLock { $0 = result }
    }
    mayLeave.open()
    flushing.join()
    sender.join()
    #expect(isFlushed.withLock { $0 })
    subscription.cancel()  // Its handler keeps the hub.
  }

  @Test(
    "one call at a time, of all events, under concurrent senders, blocks and flushes",
    arguments: StorageStrategy.allCases)
  func concurrentSenders(_ storage: StorageStrategy) async {
    let hub = EventHub<Int>(replay: 1, storage: storage)
    let (perSender, senders) = (2000, 3)
    let calls = (0..<3).map { _ in Calls() }
    let owner = owner
    let subscriptions = [
      hub.subscribe(on: .sender) { calls[0].record($0) },
      hub.subscribe(with: owner, on: .sender) { _, event in calls[1].record(event) },
      hub.subscribe(on: .sender) { calls[2].record($0) },
    ]
    await onOwnThread {
      runThreads(senders + 1) { thread in
        if thread == senders {
          for _ in 0..<200 {
            subscriptions[2].block()
            subscriptions[2].unblock()
            hub.flush(timeout: .seconds(60))
          }
        } else {
          for number in 0..<perSender { hub.send(number * senders + thread) }
        }
      }
    }
    await hub.flush()
    #expect(calls[0].entries.count == senders * perSender)
    #expect(calls[1].entries == calls[0].entries)
    // An event that was sent during a block did not reach the third.
    var all = calls[0].entries[...]
    for event in calls[2].entries {
      guard let index = all.firstIndex(of: event) else {
        Issue.record("\(event) came out of order")
        break
      }
      all = all[(index + 1)...]
    }
    #expect(calls.allSatisfy { !$0.hasOverlapped })
    for subscription in subscriptions {
      let statistics = subscription.statistics
      #expect(statistics?.pending == 0 && statistics?.discarded == 0)
    }
    #expect(subscriptions[2].statistics?.delivered == calls[2].entries.count)
  }

  /// What a handler received, and whether two calls ran at once.
  private final class Calls: Sendable {
    private let journal = Journal()
    private let running = Atomic<Int>(0)
    private let overlaps = Atomic<Int>(0)

    func record(_ event: Int) {
      if running.add(1, ordering: .relaxed).oldValue != 0 { overlaps.add(1, ordering: .relaxed) }
      journal.record(event)
      running.subtract(1, ordering: .relaxed)
    }

    var entries: [Int] { journal.entries }
    var hasOverlapped: Bool { overlaps.load(ordering: .relaxed) > 0 }
  }
}
