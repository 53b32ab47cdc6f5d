import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A blocked subscription, and a blocked hub", .timeLimit(.minutes(10)))
struct EventBlockingTests {
  @Test(
    "a blocked subscription does not get what is sent in the meantime",
    arguments: StorageStrategy.allCases, [(Ordering.perSender, 0), (.perSender, 1), (.total, 0)])
  func subscription(storage: StorageStrategy, kind: (Ordering, Int)) async {
    let (ordering, replay) = kind
    let hub = EventHub<Int>(replay: replay, ordering: ordering, storage: storage)
    let queue = DispatchQueue(label: "queue")
    let (inline, queued, others) = (Journal(), Journal(), Journal())
    let subscriptions = [
      hub.subscribe { inline.record($0) }, hub.subscribe(on: queue) { queued.record($0) },
    ]
    let other = hub.subscribe { others.record($0) }
    #expect(hub.send(1) == 3)
    subscriptions[0].withBlocked {
      subscriptions[1].withBlocked {
        #expect(hub.send(2) == 1)
        #expect(hub.subscriberCount == 3)
        #expect(subscriptions.allSatisfy { $0.isBlocked && $0.isActive && $0.end == nil })
      }
    }
    #expect(hub.send(3) == 3)
    hub.finish()
    await eventually { !subscriptions[1].isActive }
    #expect(inline.entries == [1, 3] && queued.entries == [1, 3] && others.entries == [1, 2, 3])
    withExtendedLifetime(other) {}
  }

  @Test("what waits is delivered after the unblock, also if the hub has finished since")
  func kept() async {
    let hub = EventHub<Int>()
    let queue = DispatchQueue(label: "queue")
    let journal = Journal()
    queue.suspend()
    let subscription = hub.subscribe(on: queue, buffering: .bounded(2, whenFull: .dropOldest)) {
      journal.record($0)
    }
    for event in 1...3 { hub.send(event) }
    subscription.block()
    hub.send(4)
    queue.resume()
    await withCheckedContinuation { done in queue.async { done.resume() } }
    hub.finish()
    #expect(journal.entries.isEmpty)
    #expect(subscription.isActive && subscription.end == .finished)
    subscription.unblock()
    await eventually { !subscription.isActive }
    #expect(journal.entries == [2, 3])
    #expect(subscription.statistics?.dropped == 1)
  }

  /// A hub and a handler that blocks its subscription at the first event of a replay. When it is
  /// unblocked, with space for two events, the rest of the replay waits and `queue` is suspended.
  private func putOff(
    replay count: Int, _ policy: OverflowPolicy, _ queue: DispatchQueue, _ journal: Journal
  ) async -> (EventHub<Int>, EventSubscription) {
    let hub = EventHub<Int>(replay: count)
    for event in 1...count { hub.send(event) }
    let subscription = hub.subscribe(on: queue, buffering: .bounded(2, whenFull: policy)) {
      (subscription: EventSubscription, event: Int) in
      journal.record(event)
      if event == 1 { subscription.block() }
    }
    await eventually { subscription.statistics?.pending == count - 1 }
    queue.suspend()
    subscription.unblock()
    return (hub, subscription)
  }

  @Test(
    "a replay that a handler puts off by a block does not count towards the limit",
    arguments: [OverflowPolicy.disconnect, .suspend])
  func replayPutOff(policy: OverflowPolicy) async {
    let (queue, journal) = (DispatchQueue(label: "queue"), Journal())
    let (hub, subscription) = await putOff(replay: 3, policy, queue, journal)
    // Two events have space beside the rest of the replay, and the third one has not.
    #expect(hub.send(4) == 1)
    #expect(hub.trySend(5))
    #expect(!hub.trySend(6))
    #expect(subscription.end == nil)
    queue.resume()
    await eventually { subscription.statistics?.pending == 0 }
    #expect(journal.entries == [1, 2, 3, 4, 5])
  }

  @Test(
    "what a handler puts off of a replay that counts gives way only as the oldest",
    arguments: [OverflowPolicy.dropOldest, .dropNewest])
  func replayCounted(policy: OverflowPolicy) async {
    let (queue, journal) = (DispatchQueue(label: "queue"), Journal())
    let (hub, subscription) = await putOff(replay: 2, policy, queue, journal)
    for event in 3...4 { hub.send(event) }
    #expect(subscription.statistics?.dropped == (policy == .dropOldest ? 1 : 0))
    queue.resume()
    await eventually { subscription.statistics?.pending == 0 }
    #expect(journal.entries == (policy == .dropOldest ? [1, 3, 4] : [1, 2, 3, 4]))
  }

  @Test("a hub that replays: the unblock calls the handler with what waited, on its thread")
  func inlineKept() async {
    let hub = EventHub<Int>(replay: 1)
    let journal = Journal()
    let (entered, mayLeave) = (Gate(), Gate())
    let subscription = hub.subscribe { event in
      journal.record(event)
      if event == 1 {
        entered.open()
        mayLeave.wait()
      }
    }
    let sender = Task { await onOwnThread { hub.send(1) } }
    await onOwnThread { entered.wait() }
    #expect(hub.send(2) == 1, "it is left to the sender that calls the handler")
    subscription.block()
    mayLeave.open()
    #expect(await sender.value == 1)
    #expect(journal.entries == [1])
    subscription.unblock()
    #expect(journal.entries == [1, 2])
    hub.send(3)
    #expect(journal.entries == [1, 2, 3])
  }

  @Test("a handler of an actor is skipped too")
  func actors() async {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(on: .main) { journal.record($0) }
    hub.send(1)
    await eventually { journal.entries == [1] }
    subscription.withBlocked { #expect(hub.send(2) == 0) }
    hub.send(3)
    await eventually { journal.entries == [1, 3] }
  }

  @Test("what waits for an asynchronous handler is kept, and its calls are as many as before")
  func asynchronous() async {
    let hub = EventHub<Int>()
    let (first, others) = (AsyncGate(), AsyncGate())
    let (begun, ended) = (Journal(), Journal())
    let subscription = hub.subscribe(maxConcurrentCalls: 2) { event async in
      begun.record(event)
      await (event < 2 ? first : others).wait()
      ended.record(event)
    }
    for event in 0..<6 { hub.send(event) }
    await eventually { begun.entries.count == 2 }
    subscription.block()
    first.open()
    await eventually { subscription.statistics?.delivered == 2 }
    #expect(hub.send(6) == 0)
    #expect(Set(begun.entries) == [0, 1])
    subscription.unblock()
    await eventually { begun.entries.count == 4 }
    #expect(Set(begun.entries) == [0, 1, 2, 3], "two at once, as before")
    others.open()
    await eventually { ended.entries.count == 6 }
    hub.finish()
    await eventually { !subscription.isActive }
    #expect(begun.entries.sorted() == Array(0..<6))
  }

  @Test("a blocked subscription ends with its handle, also with an owner or a finished hub")
  func released() async {
    let tracker = LifetimeTracker()
    let queue = DispatchQueue(label: "queue")
    do {
      let owner = RecordingObserver(tracker: tracker)
      let inHandler = RecordingObserver(tracker: tracker)
      let hub = EventHub<Int>()
      queue.suspend()
      var subscription: EventSubscription? = hub.subscribe(with: owner, on: queue) {
        inHandler.receive($1)
        $0.receive($1)
      }
      hub.send(1)
      subscription?.block()
      hub.finish()
      queue.resume()
      subscription = nil
      await eventually { hub.statistics.pending == 0 }
      #expect(owner.calls == 0 && inHandler.calls == 0)
      #expect(subscription == nil)
    }
    await eventually { tracker.live == 0 }
  }

  @Test(
    "a blocked hub: no subscriber gets what is sent; what was sent before is delivered",
    arguments: StorageStrategy.allCases, [0, 3])
  func hub(storage: StorageStrategy, replay: Int) async {
    let hub = EventHub<Int>(replay: replay, storage: storage)
    let journal = Journal()
    let subscription = hub.subscribe { journal.record($0) }
    let iterator = hub.events().makeAsyncIterator()
    hub.send(1)
    hub.block()
    hub.block()
    #expect(await iterator.next() == 1)
    #expect(hub.send(2) == 0)
    #expect(await hub.sendWaiting(3))
    hub.unblock()
    #expect(hub.isBlocked)
    hub.send(contentsOf: [4, 5])
    hub.unblock()
    #expect(!hub.isBlocked)
    hub.send(6)
    #expect(hub.withBlocked { hub.send(7) } == 0)
    let isTaken = await hub.withBlocked { await hub.sendWaiting(8) }
    #expect(isTaken)
    #expect(await iterator.next() == 6)
    #expect(journal.entries == [1, 6])
    #expect(hub.statistics.refused == 0)
    let late = Journal()
    let later = hub.subscribe { late.record($0) }
    #expect(late.entries == (replay > 0 ? [1, 6] : []), "the replay has none of them")
    hub.block()
    hub.finish()
    hub.send(9)
    #expect(hub.statistics.refused == 1, "finished is finished")
    #expect(await iterator.next() == nil)
    hub.unblock()
    #expect(hub.send(10) == 0)
    #expect(hub.statistics.refused == 2)
    withExtendedLifetime((subscription, later)) {}
  }

  @Test(
    "with a total order, a block counts when the event is delivered, not when it is sent",
    arguments: [false, true])
  func blockBesidePendingEvent(isBlockedFirst: Bool) {
    let hub = EventHub<Int>(ordering: .total)
    let journal = Journal()
    let second = Guarded<EventSubscription?>(nil)
    let first = hub.subscribe { event in
      guard event == 1, let second = second.withLock({ $0 }) else { return }
      if isBlockedFirst { second.block() }
      hub.send(2)  // Left to the outer call.
      if isBlockedFirst { second.unblock() } else { second.block() }
    }
    second.withLock { $0 = hub.subscribe { journal.record($0) } }
    hub.send(1)
    _ = second.withLock { $0 }?.withBlocked { hub.send(3) }
    #expect(journal.entries == (isBlockedFirst ? [1, 2] : []))
    withExtendedLifetime(first) {}
  }

  @Test(
    "trySend skips a subscription that is blocked when it asks, also if the block ends meanwhile",
    arguments: [OverflowPolicy.dropNewest, .suspend, .disconnect],
    [(Ordering.perSender, 0), (.perSender, 1), (.total, 0)])
  func trySendBesideUnblock(_ policy: OverflowPolicy, _ kind: (Ordering, Int)) async {
    let hub = EventHub<Int>(replay: kind.1, ordering: kind.0)
    let queue = DispatchQueue(label: "queue")
    let (handled, others) = (Journal(), Journal())
    queue.suspend()
    let full = hub.subscribe(on: queue, buffering: .bounded(1, whenFull: policy)) {
      handled.record($0)
    }
    let other = hub.subscribe(
      where: { event in
        // The hub has asked the buffer of the first subscription, or passed over it.
        if event == 2 { full.unblock() }
        return true
      }
    ) { others.record($0) }
    hub.send(1)
    full.block()
    #expect(hub.trySend(2))
    #expect(full.end == nil && hub.statistics.dropped == 0)
    #expect(!hub.trySend(3))
    queue.resume()
    await hub.flush()
    #expect(handled.entries == [1] && others.entries == [1, 2])
    withExtendedLifetime(other) {}
  }

  @Test("one with positions gets what trySend sent, also if its block ended during the call")
  func trySendBesideUnblockOfReader() {
    let hub = EventHub<Int>(retention: .last(10))
    let journal = Journal()
    // Reads at once when it is unblocked, so before the event is in the log.
    let reading = hub.subscribe(from: .live, on: .sender) {
      if let event = $0.event { journal.record(event) }
    }
    let other = hub.subscribe(
      where: { _ in
        reading.unblock()
        return true
      }
    ) { _ in }
    reading.block()
    #expect(hub.trySend(1))
    #expect(journal.entries == [1])
    withExtendedLifetime(other) {}
  }

  @Test("a blocked hub of topics", arguments: [false, true])
  func topics(hasSubscriberOfAll: Bool) async {
    let hub = TopicHub<String, Int>()
    let (journal, all) = (Journal(), Journal())
    let subscription = hub.subscribe(to: "a") { journal.record($0) }
    let ofAll = hasSubscriberOfAll ? hub.allTopics.subscribe { all.record($0.event) } : nil
    hub.withBlocked {
      hub.block()
      #expect(hub.isBlocked)
      #expect(hub.send(1, to: "a") == 0)
      hub.send(contentsOf: [2, 3], to: "a")
      hub.unblock()
      #expect(hub.isBlocked)
    }
    let isTaken = await hub.withBlocked { await hub.sendWaiting(4, to: "a") }
    #expect(isTaken)
    #expect(!hub.isBlocked)
    hub.send(5, to: "a")
    // A batch notices it too.
    hub.send(
      contentsOf: [6, 7, 8].lazy.map { event in
        if event == 7 { hub.block() }
        if event == 8 { hub.unblock() }
        return event
      }, to: "a")
    #expect(journal.entries == [5, 6, 8])
    #expect(all.entries == (hasSubscriberOfAll ? [5, 6, 8] : []))
    withExtendedLifetime((subscription, ofAll)) {}
  }

  @Test("while threads block the hub and send: each send outside every block counts")
  func racing() async {
    let hub = EventHub<Int>()
    let (inside, outside, sent) = (Counter(), Counter(), Counter())
    let subscription = hub.subscribe { $0 < 0 ? inside.add() : outside.add() }
    runThreads(4) { thread in
      for round in 0..<2000 {
        if thread < 2 {
          hub.withBlocked { _ = hub.send(-1) }
        } else {
          sent.add(hub.send(round))
        }
      }
    }
    #expect(inside.value == 0 && outside.value == sent.value)
    #expect(hub.send(1) == 1 && hub.statistics.refused == 0)
    withExtendedLifetime(subscription) {}
  }
}
