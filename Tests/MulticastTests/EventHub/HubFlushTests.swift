import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("flush of a hub: everything sent before has been handled or discarded")
struct HubFlushTests {
  /// A hub of each kind.
  private static var hubs: [EventHub<Int>] {
    [EventHub(), EventHub(ordering: .total), EventHub(replay: 3)]
  }

  private static var queues: [DispatchQueue?] {
    (0..<3).map { DispatchQueue(label: "serial \($0)") }
  }

  @Test("handlers on queues have returned", arguments: StorageStrategy.allCases, 0...2)
  func queues(_ storage: StorageStrategy, kind: Int) async {
    let hub = EventHub<Int>(
      replay: kind == 2 ? 1 : 0, ordering: kind == 1 ? .total : .perSender, storage: storage)
    let counters = (0..<10).map { _ in Counter() }
    let subscriptions = counters.map { counter in
      hub.subscribe(on: .global()) { _ in counter.add() }
    }
    for round in 1...50 {
      for event in 0..<20 { hub.send(event) }
      if round % 2 == 0 { await hub.flush() } else { #expect(blocking(hub, .seconds(60))) }
      #expect(counters.allSatisfy { $0.value == round * 20 })
    }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("not the sequence whose latest event the calling task received, though another took it")
  @MainActor
  func takenByAnotherTask() async {
    let hub = EventHub<Int>(retention: .last(10))
    let iterator = hub.events().makeAsyncIterator()
    let positions = PositionedIterator(hub.events(from: .live))
    for event in 1...3 { hub.send(event) }
    // Another task of the actor takes all three, and receives the first.
    await Task { @MainActor in
      #expect(await iterator.next() == 1)
      #expect(await positions.next() == 1)
    }.value
    #expect(!blocking(hub, .zero), "the task is over, and has not asked for the next one")
    #expect(await iterator.next() == 2)
    #expect(await positions.next() == 2)
    #expect(blocking(hub, .seconds(60)))
    await hub.flush()
    await Task { @MainActor in
      #expect(await iterator.next() == 3)
      #expect(await positions.next() == 3)
    }.value
    #expect(!blocking(hub, .zero), "the event that this task received is not the latest")
  }

  @Test("the sequence of a task that has ended, also if the calling task got its address")
  func addressOfAnotherTask() async {
    actor Consumer {
      private let iterator: EventSequence<Int>.Iterator
      init(_ hub: EventHub<Int>) { iterator = hub.events().makeAsyncIterator() }
      func receive() async -> Int? { await iterator.next() }
    }
    let hub = EventHub<Int>()
    let consumer = Consumer(hub)
    for event in 1...2 { hub.send(event) }
    // The allocator gives some of the later tasks, which have the same size, the address of the
    // first.
    for number in 0..<1_000 {
      let isExpected = await Task.detached {
        number == 0 ? await consumer.receive() == 1 : !blocking(hub, .zero)
      }.value
      #expect(isExpected)
    }
    #expect(await consumer.receive() == 2)
    #expect(blocking(hub, .zero))
  }

  @MainActor
  private final class PositionedIterator {
    private var events: PositionedSequence<Int>.Iterator

    init(_ sequence: PositionedSequence<Int>) {
      events = sequence.makeAsyncIterator()
    }

    func next() async -> Int? {
      var copy = events  // Of the same consumer: a property cannot be borrowed across a suspension.
      defer { events = copy }
      guard case .event(let event, _) = await copy.next(isolation: #isolation) else { return nil }
      return event
    }
  }

  @Test("not a subscriber whose filter of the replay flushes", arguments: [false, true])
  func inAFilterOfTheReplay(isTotal: Bool) {
    let hub = EventHub<Int>(replay: 1, ordering: isTotal ? .total : .perSender)
    let handled = Counter()
    hub.send(0)
    let subscription = hub.subscribe(
      on: DispatchQueue(label: "serial"),
      where: { event in
        if event == 0 {
          hub.send(1)
          #expect(hub.flush(timeout: .seconds(60)))
        }
        return true
      }
    ) { _ in handled.add() }
    #expect(hub.flush(timeout: .seconds(60)))
    #expect(handled.value == 2)
    withExtendedLifetime(subscription) {}
  }

  @Test("a consumer has handled an event when it asks for the next one")
  func consumer() async {
    for hub in Self.hubs {
      let (entered, leave) = (Gate("entered"), Gate("leave"))
      let handled = Counter()
      let sequence = hub.events()
      let consuming = Task {
        for await event in sequence {
          if event == 1 {
            entered.open()
            await eventually { leave.isOpen }
          }
          handled.add()
        }
      }
      for event in 0..<3 { hub.send(event) }
      await eventually { entered.isOpen }
      #expect(!blocking(hub, .zero))
      async let flushed: Void = hub.flush()
      leave.open()
      await flushed
      #expect(handled.value == 3)
      hub.finish()
      await consuming.value
    }
  }

  @Test("an event that is sent after the flush began does not delay it")
  func laterEvent() async {
    let hub = EventHub<Int>()
    let sequence = hub.events()
    hub.send(0)
    let flush = Task { await hub.flush() }
    // The flush waits in the mailbox.
    await eventually { hub.flushCounts.allSatisfy { $0 == 1 } }
    hub.send(1)
    let iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    async let next = iterator.next()
    await flush.value
    #expect(await next == 1)
  }

  @Test("the body of a loop over the hub flushes it, and what other subscribers have to handle")
  func insideALoop() async {
    let hub = EventHub<Int>()
    let handled = Counter()
    let subscription = hub.subscribe(on: .global()) { _ in handled.add() }
    let sequence = hub.events()
    for event in 0..<5 { hub.send(event) }
    hub.finish()
    for await _ in sequence {
      await hub.flush()
      #expect(handled.value == 5)
    }
    withExtendedLifetime(subscription) {}
  }

  @Test("a consumer that stops, is cancelled or is abandoned has handled everything")
  func consumersThatEnd() async {
    let hub = EventHub<Int>()
    let breaking = hub.events()
    let cancelled = hub.events()
    var abandoned: EventSequence<Int>? = hub.events()
    for event in 0..<3 { hub.send(event) }
    #expect(!blocking(hub, .zero))
    let flush = Task { await hub.flush() }
    await eventually { hub.flushCounts.allSatisfy { $0 == 1 } }
    await Task { for await _ in breaking { break } }.value
    let task = Task { for await event in cancelled where event == 2 { await forever() } }
    task.cancel()
    await task.value
    _ = abandoned.take()
    await flush.value
  }

  @Test("an event that its sender left to another one, in a hub with one order")
  func leftToAnotherSender() async {
    for hub in [EventHub<Int>(ordering: .total), EventHub(replay: 1)] {
      let (entered, leave) = (Gate("entered"), Gate("leave"))
      let handled = Counter()
      let subscription = hub.subscribe { event in
        if event == 0 {
          entered.open()
          leave.wait()
        }
        handled.add()
      }
      let sender = RunningThread { hub.send(0) }
      entered.wait()
      for event in 1...3 { hub.send(event) }
      #expect(handled.value == 0)
      #expect(!blocking(hub, .zero))
      async let flushed: Void = hub.flush()
      leave.open()
      await flushed
      #expect(handled.value == 4)
      sender.join()
      #expect(blocking(hub, .zero))
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("an event that its sender left to the one that compares keys")
  func leftToACoalescer() async {
    let hub = EventHub<Int>()
    let (entered, leave) = (Gate("entered"), Gate("leave"))
    let handled = Journal()
    let policy = BufferingPolicy<Int>.coalescing { event in
      if event == 0 {
        entered.open()
        leave.wait()
      }
      return event
    }
    let subscription = hub.subscribe(on: .global(), buffering: policy) { handled.record($0) }
    let sender = RunningThread { hub.send(0) }
    entered.wait()
    hub.send(1)
    #expect(!blocking(hub, .zero))
    async let flushed: Void = hub.flush()
    leave.open()
    await flushed
    #expect(handled.entries == [0, 1])
    sender.join()
    withExtendedLifetime(subscription) {}
  }

  @Test(
    "events whose senders wait for space, unless these are cancelled", arguments: [false, true])
  func parked(cancels: Bool) async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .bounded(1, whenFull: .suspend))
    hub.send(0)
    var senders: [Task<Bool, Never>] = []
    for event in 1...2 {
      senders.append(Task { await hub.sendWaiting(event) })
      await eventually { hub.statistics.pending == event + 1 }
    }
    let flush = Task { await hub.flush() }
    await eventually { hub.flushCounts.allSatisfy { $0 == 1 } }
    if cancels {
      for sender in senders { sender.cancel() }
      for sender in senders { #expect(await !sender.value) }
    }
    let iterator = sequence.makeAsyncIterator()
    for event in 0...(cancels ? 0 : 2) {
      #expect(!blocking(hub, .zero) || event > 0)
      #expect(await iterator.next() == event)
    }
    async let next = iterator.next()
    await flush.value
    hub.finish()
    #expect(await next == nil)
  }

  @Test("what is discarded completes a flush, and one that timed out leaves nothing behind")
  func discardedAndPolled() async {
    for hub in Self.hubs {
      let queue = DispatchQueue(label: "suspended")
      queue.suspend()
      let subscription = hub.subscribe(on: queue) { _ in }
      hub.send(0)
      for _ in 0..<1_000 { #expect(!blocking(hub, .zero)) }
      #expect(hub.flushCounts.allSatisfy { $0 == 0 })
      async let flushed: Void = hub.flush()
      subscription.cancel()
      await flushed
      queue.resume()
    }
  }

  // MARK: Inside handlers

  @Test("inside a handler that the sender or a queue calls: no deadlock")
  func insideHandlers() async {
    for (hub, queue) in zip(Self.hubs + Self.hubs, [nil, nil, nil] + Self.queues) {
      let flushed = Counter()
      let handled = Counter()
      let handler: @Sendable (Int) -> Void = { [weak hub] event in
        guard let hub else { return }
        if event == 0 { hub.send(1) }
        if hub.flush(timeout: .seconds(200)) { flushed.add() }
        handled.add()
      }
      let subscriptions = (0..<3).map { index in
        if index == 1, let queue { return hub.subscribe(on: queue, handler) }
        return hub.subscribe(on: .sender, handler)
      }
      hub.send(0)
      // Each of the three handlers sends another event.
      await eventually { handled.value == 12 }
      #expect(flushed.value == 12)
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("handlers of hubs with one order flush each other's hub: no cycle", arguments: 2...3)
  func cycles(count: Int) {
    for _ in 0..<20 {
      let hubs = (0..<count).map { _ in EventHub<Int>(ordering: .total) }
      let barrier = StartBarrier(count)
      let flushed = Counter()
      let subscriptions = (0..<count).map { index in
        hubs[index].subscribe { _ in
          barrier.arriveAndWait()
          if hubs[(index + 1) % count].flush(timeout: .seconds(100)) { flushed.add() }
        }
      }
      runThreads(count) { hubs[$0].send(0) }
      #expect(flushed.value == count)
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test("a handler of a total order and a delegate on a queue flush each other: no cycle")
  func mixedCycle() {
    for _ in 0..<20 {
      let hub = EventHub<Int>(ordering: .total)
      let delegates = MulticastDelegate<any Observing>()
      let barrier = StartBarrier(2)
      let flushed = Counter()
      let delegate = ActingObserver { _, _ in
        barrier.arriveAndWait()
        if hub.flush(timeout: .seconds(100)) { flushed.add() }
      }
      delegates.add(delegate, on: DispatchQueue(label: "serial"))
      let subscription = hub.subscribe { _ in
        barrier.arriveAndWait()
        if delegates.flush(timeout: .seconds(100)) { flushed.add() }
      }
      delegates.invoke { $0.receive(0) }
      hub.send(0)
      #expect(delegates.flush(timeout: .seconds(100)))
      #expect(flushed.value == 2)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("from several threads, against senders: what a thread sent is handled", arguments: 0...2)
  func threads(kind: Int) {
    let hub = Self.hubs[kind]
    let handled = (0..<4).map { _ in Counter() }
    let failures = Counter()
    let inline = hub.subscribe { event in handled[event].add() }
    let queued = hub.subscribe(on: .global()) { event in handled[event].add() }
    let coalescing = hub.subscribe(
      on: .global(), buffering: .coalescing { $0 }, { _ in })
    runThreads(4) { thread in
      for round in 1...300 {
        hub.send(thread)
        if !hub.flush(timeout: .seconds(100)) { failures.add() }
        if handled[thread].value != 2 * round { failures.add() }
      }
    }
    #expect(failures.value == 0)
    for subscription in [inline, queued, coalescing] { subscription.cancel() }
  }
}

extension EventHub {
  /// The number of flushes that wait for each mailbox.
  var flushCounts: [Int] {
    registry.snapshot().compactMap { entry in
      entry?.mailbox.map { mailbox in mailbox.withLock { mailbox.state.flushes.count } }
    }
  }
}

/// Suspends until the task is cancelled.
private func forever() async {
  while !Task.isCancelled { await Task.yield() }
}

/// Calls from an asynchronous function what may only be called from a blocking one.
private func blocking(_ hub: EventHub<Int>, _ timeout: Duration) -> Bool {
  hub.flush(timeout: timeout)
}
