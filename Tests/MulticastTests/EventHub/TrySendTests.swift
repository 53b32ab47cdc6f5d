import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("trySend: every subscriber receives the event, or none does")
struct TrySendTests {
  private static func hub(_ kind: Int) -> EventHub<Int> {
    [EventHub(), EventHub(ordering: .total), EventHub(initialValue: -1)][kind]
  }

  /// The events that wait, and are not the initial value.
  private func waiting(_ iterator: EventSequence<Int>.Iterator) -> [Int] {
    var events: [Int] = []
    while let event = iterator.nextIfAvailable() { events.append(event) }
    return events.filter { $0 >= 0 }
  }

  @Test(
    "a full buffer that would drop the event, or make a sender wait: no subscriber gets it",
    arguments: [OverflowPolicy.dropNewest, .suspend, .disconnect], 0...2)
  func full(_ policy: OverflowPolicy, kind: Int) async {
    let hub = Self.hub(kind)
    let handled = Journal()
    let inline = hub.subscribe(on: .sender) { handled.record($0) }
    let free = hub.events().makeAsyncIterator()
    // A replay counts towards the limit of `dropNewest`.
    let limit = kind == 2 && policy == .dropNewest ? 3 : 2
    let bounded = hub.events(buffering: .bounded(limit, whenFull: policy)).makeAsyncIterator()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let queued = hub.subscribe(on: queue) { handled.record(100 + $0) }
    _ = handled.take()
    #expect(hub.trySend(0))
    #expect(hub.trySend(1))
    #expect(!hub.trySend(2))
    #expect(hub.value == (kind == 2 ? 1 : nil))
    #expect(handled.entries == [0, 1])
    #expect(waiting(free) == [0, 1] && waiting(bounded) == [0, 1])
    #expect(bounded.end == nil && hub.statistics.dropped == 0)
    #expect(hub.trySend(3))
    #expect(waiting(free) == [3] && waiting(bounded) == [3])
    queue.resume()
    await hub.flush()
    #expect(handled.entries.filter { $0 >= 100 } == [100, 101, 103])
    withExtendedLifetime((inline, queued)) {}
  }

  @Test("buffers that drop older events accept every event", arguments: 0...2)
  func lossy(kind: Int) {
    let hub = Self.hub(kind)
    let oldest = hub.events(buffering: .bounded(2, whenFull: .dropOldest)).makeAsyncIterator()
    let latest = hub.events(buffering: .latest).makeAsyncIterator()
    let coalescing = hub.events(buffering: .coalescing { $0 % 2 }).makeAsyncIterator()
    for event in 0..<5 { #expect(hub.trySend(event)) }
    #expect(waiting(oldest) == [3, 4] && waiting(latest) == [4])
    #expect(Set(waiting(coalescing)) == [3, 4])
  }

  @Test("filters are called once, and one that excludes the event makes a full buffer irrelevant")
  func filters() {
    for kind in 0...2 {
      let hub = Self.hub(kind)
      let calls = Journal()
      let even = hub.events(buffering: .bounded(3, whenFull: .suspend)) { event in
        calls.record(event)
        return event % 2 == 0
      }.makeAsyncIterator()
      _ = calls.take()
      for event in 0..<5 { #expect(hub.trySend(event)) }
      #expect(hub.trySend(5))
      #expect(!hub.trySend(6))
      #expect(calls.entries == Array(0...6))
      #expect(waiting(even) == [0, 2, 4])
    }
  }

  @Test("in a handler of another hub, which a filter has sent to: the event of the filter counts")
  func handlerOfAnotherHub() async {
    let (hub, other) = (EventHub<Int>(ordering: .total), EventHub<Int>())
    let (answers, handled) = (Journal(), Journal())
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let nested = other.subscribe(on: .sender) { _ in answers.record(hub.trySend(2) ? 1 : 0) }
    let subscription = hub.subscribe(
      on: queue, buffering: .bounded(1, whenFull: .disconnect),
      where: { event in
        if event == 1 { other.send(0) }
        return true
      }
    ) { handled.record($0) }
    hub.send(1)
    #expect(answers.entries == [0])
    queue.resume()
    await hub.flush()
    #expect(subscription.end == nil && handled.entries == [1])
    withExtendedLifetime(nested) {}
  }

  @Test("no subscriber: sent; a finished hub: refused and counted")
  func edges() {
    for kind in 0...2 {
      let hub = Self.hub(kind)
      #expect(hub.trySend(1))
      hub.finish()
      #expect(!hub.trySend(2))
      #expect(hub.statistics.refused == 1 && hub.value == (kind == 2 ? 1 : nil))
    }
    let topics = TopicHub<Int, Int>()
    #expect(topics.trySend(1, to: 1))
    let iterator = topics.events(for: 1, buffering: .bounded(1, whenFull: .suspend))
      .makeAsyncIterator()
    #expect(topics.trySend(1, to: 1))
    #expect(!topics.trySend(2, to: 1))
    #expect(waiting(iterator) == [1])
    topics.finish()
    #expect(!topics.trySend(3, to: 1))
  }

  @Test("inside a handler of a hub with one order: what was sent before comes first")
  func nested() {
    let hub = EventHub<Int>(ordering: .total)
    let results = Journal()
    let iterator = hub.events(buffering: .bounded(3, whenFull: .suspend)).makeAsyncIterator()
    let subscription = hub.subscribe(on: .sender) { [weak hub] event in
      guard event == 0, let hub else { return }
      hub.send(1)
      results.record(hub.trySend(2) ? 1 : 0)
      results.record(hub.trySend(3) ? 1 : 0)
    }
    hub.send(0)
    #expect(results.entries == [1, 0])
    #expect(waiting(iterator) == [0, 1, 2])
    #expect(hub.statistics.dropped == 0)
    withExtendedLifetime(subscription) {}
  }

  @Test("inside the last call of a handler of a hub with one order: its event is in every buffer")
  func lastCall() {
    let hub = EventHub<Int>(ordering: .total)
    let results = Journal()
    let iterator = hub.events(buffering: .bounded(2, whenFull: .suspend)).makeAsyncIterator()
    let subscription = hub.subscribe(on: .sender, options: [.once]) { [weak hub] _ in
      if let hub { results.record(hub.trySend(2) ? 1 : 0) }
    }
    hub.send(1)
    #expect(results.entries == [1])
    #expect(waiting(iterator) == [1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test("an event that waits for another sender and has its space reserved counts once")
  func pendingWithSpace() {
    let hub = EventHub<Int>(ordering: .total)
    let results = Journal()
    let iterator = hub.events(buffering: .bounded(3, whenFull: .suspend)).makeAsyncIterator()
    let subscription = hub.subscribe(on: .sender) { [weak hub] event in
      guard event == 0, let hub else { return }
      for event in 1...3 { results.record(hub.trySend(event) ? 1 : 0) }
    }
    hub.send(0)
    #expect(results.entries == [1, 1, 0])
    #expect(waiting(iterator) == [0, 1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test("an event that another sender delivers counts once where its space is reserved")
  func deliveredWithSpace() async {
    let hub = EventHub<Int>(ordering: .total)
    let (entered, leave) = (Gate("the handler is called"), Gate("it may return"))
    let iterator = hub.events(buffering: .bounded(3, whenFull: .suspend)).makeAsyncIterator()
    let subscription = hub.subscribe(on: .sender) { event in
      guard event == 0 else { return }
      entered.open()
      leave.wait()
    }
    let results = await onOwnThread {
      let delivery = RunningThread { #expect(hub.trySend(0)) }
      entered.wait()
      let results = (1...3).map { hub.trySend($0) }
      leave.open()
      delivery.join()
      return results
    }
    #expect(results == [true, true, false])
    #expect(waiting(iterator) == [0, 1, 2] && hub.reservations == [0])
    withExtendedLifetime(subscription) {}
  }

  @Test("an event that arrives while space is reserved counts once")
  func arrivedMeanwhile() async {
    let hub = EventHub<Int>(ordering: .total)
    let (entered, leave, left) = (Gate("entered"), Gate("it may return"), Gate("it has"))
    let calls = Journal()
    let blocked = hub.subscribe(on: .sender) { event in
      guard event == 0 else { return }
      entered.open()
      leave.wait()
    }
    let checked = hub.subscribe(
      on: .sender,
      where: { event in
        calls.record(event)
        guard event == 2 else { return true }
        // The events 0 and 1 were ahead. Now they are delivered.
        leave.open()
        left.wait()
        return true
      }
    ) { _ in }
    let iterator = hub.events(buffering: .bounded(3, whenFull: .suspend)).makeAsyncIterator()
    let isSent = await onOwnThread {
      let delivery = RunningThread {
        hub.send(0)
        left.open()
      }
      entered.wait()
      hub.send(1)
      let isSent = hub.trySend(2)
      delivery.join()
      return isSent
    }
    #expect(isSent && calls.entries == [2, 0, 1])
    #expect(waiting(iterator) == [0, 1, 2] && hub.statistics.dropped == 0)
    withExtendedLifetime((blocked, checked)) {}
  }

  @Test("space that was reserved in vain goes to a sender that waits")
  func released() async {
    let hub = EventHub<Int>()
    let first = hub.events(buffering: .bounded(1, whenFull: .suspend)) { $0 < 20 }
    let filtered = hub.subscribe(
      on: .sender,
      where: { [weak hub] event in
        guard event == 10, let hub else { return true }
        // The space in the first buffer is reserved now.
        Task { #expect(await hub.sendWaiting(11)) }
        // The event 20 waits, and 11 for space.
        yield { hub.statistics.pending == 2 }
        return true
      }
    ) { _ in }
    let full = hub.events(buffering: .bounded(1, whenFull: .dropNewest)) { $0 != 11 }
    hub.send(20)
    #expect(await onOwnThread { !hub.trySend(10) })
    let iterator = first.makeAsyncIterator()
    #expect(await iterator.next() == 11)
    #expect(hub.reservations == [0, 0])
    withExtendedLifetime((filtered, full)) {}
  }

  @Test(
    "concurrent senders: each consumer gets exactly the events that were sent, and no limit is exceeded",
    arguments: 0...2, [OverflowPolicy.dropNewest, .suspend, .disconnect])
  func race(kind: Int, policy: OverflowPolicy) async {
    let hub = Self.hub(kind)
    let limit = 3
    let sequences = (1...3).map {
      hub.events(buffering: .bounded($0 + limit, whenFull: policy)) { $0 >= 0 }
    }
    let consumers = sequences.map { sequence in
      Task {
        var events: [Int] = []
        for await event in sequence { events.append(event) }
        return events
      }
    }
    let sent = await onOwnThread {
      let journals = (0..<4).map { _ in Journal() }
      runThreads(4) { thread in
        for number in 0..<500 {
          let event = thread * 1_000 + number
          if hub.trySend(event) { journals[thread].record(event) }
        }
      }
      return journals.map(\.entries)
    }
    #expect(hub.reservations.allSatisfy { $0 == 0 })
    hub.finish()
    let all = Set(sent.joined())
    for consumer in consumers {
      let events = await consumer.value
      #expect(Set(events) == all && events.count == all.count)
      for thread in 0..<4 { #expect(events.filter { $0 / 1_000 == thread } == sent[thread]) }
    }
    #expect(hub.statistics.dropped == 0 && !all.isEmpty)
  }

  @Test(
    "beside senders that wait, and subscribers that come and go: the numbers add up",
    arguments: 0...2)
  func mixedRace(kind: Int) async {
    let hub = EventHub<RecordingObserver>(
      replay: kind == 2 ? 1 : 0, ordering: kind == 1 ? .total : .perSender)
    let tracker = LifetimeTracker()
    let limit = 2
    let sequence = hub.events(buffering: .bounded(limit, whenFull: .suspend))
    let consumer = Task {
      var count = 0
      for await _ in sequence { count += 1 }
      return count
    }
    let waiting = Task {
      for _ in 0..<300 {
        #expect(await hub.sendWaiting(RecordingObserver(1, tracker: tracker)))
      }
    }
    let sent = Counter()
    await onOwnThread {
      runThreads(3) { thread in
        for _ in 0..<300 {
          if thread == 0 {
            let other = hub.events(buffering: .bounded(1, whenFull: .suspend))
            _ = other.makeAsyncIterator().nextIfAvailable()
          } else if hub.trySend(RecordingObserver(0, tracker: tracker)) {
            sent.add()
          }
        }
      }
    }
    await waiting.value
    #expect(hub.reservations.allSatisfy { $0 == 0 })
    hub.finish()
    #expect(await consumer.value == sent.value + 300)
    #expect(hub.statistics.pending == 0)
    if kind < 2 { #expect(tracker.live == 0) } else { #expect(tracker.live == 1) }
  }

  @Test("the limit holds with reserved space: state by state")
  func states() {
    for policy in [OverflowPolicy.dropNewest, .suspend, .disconnect] {
      var state = MailboxState(limit: 2, whenFull: policy, isIdle: true)
      var outcomes = (0..<3).map { _ in state.reserve(beside: 0) }
      #expect(outcomes == [.reserved, .reserved, .full])
      let effects = state.append(Envelope(event: 0))
      #expect(!effects.isAccepted && effects.dropped == 1)
      if policy == .disconnect {
        outcomes = [state.reserve(beside: 0)]
        #expect(outcomes == [.unneeded], "it has ended")
        continue
      }
      _ = state.release()
      outcomes = [state.reserve(beside: 1)]
      #expect(outcomes == [.claimed])
      #expect(state.commit(Envelope(event: 1)).isAccepted)
      #expect(state.append(Envelope(event: 2)).isAccepted)
      #expect(state.append(Envelope(event: 3)).dropped == 1)
      #expect(state.reserved == 0 && state.capacity == 2 && state.waiting.count == 2)
    }
  }

  @Test("reserved: a replay that comes meanwhile raises no limit above the largest number")
  func largestLimit() {
    for extra in 1...3 {
      var state = MailboxState(limit: .max - extra, whenFull: .suspend, isIdle: true)
      #expect([state.reserve(beside: 0)] == [.reserved])
      _ = state.prepend((0..<3).map { Envelope(event: $0) })
      _ = state.release()
      #expect(state.capacity >= .max - extra && state.waiting.count == 3)
    }
  }

  @Test("reserved: what was dropped behind senders that wait is counted behind their elements")
  func dropsBehindParked() {
    var state = MailboxState(limit: 1, whenFull: .suspend, isIdle: true)
    #expect([state.reserve(beside: 0)] == [.reserved])
    #expect(state.append(Envelope(event: 1), sender: SendWaiter()).isParked)
    #expect(state.append(Envelope(event: 2)).dropped == 1)
    #expect(state.commit(Envelope(event: 0)).isAccepted)
    var items: [[Int]] = []
    for _ in 0..<2 {
      var batch = ItemBuffer()
      _ = state.take(1, into: &batch)
      while let item = batch.popFirst() {
        items.append([item.element.event(Int.self), item.dropped])
      }
      _ = state.finishTaken(delivered: 1)
    }
    #expect(items == [[0, 0], [1, 0]] && state.takeDroppedAtEnd() == 1)
  }
}

extension EventHub {
  /// The number of reservations in each mailbox.
  fileprivate var reservations: [Int] {
    registry.snapshot().compactMap { entry in
      entry?.mailbox.map { mailbox in mailbox.withLock { mailbox.state.reserved } }
    }
  }
}
