import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

/// An actor that consumes events, and whose executor a test can suspend.
private actor Reader {
  nonisolated let executor = StationExecutor()
  nonisolated let received = Counter()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func readAll(_ sequence: EventSequence<RecordingObserver>) async {
    for await _ in sequence { received.add() }
  }
}

@Suite("Promise 8: cancelling a consuming task while an event is sent never deadlocks")
struct CancellationTests {
  // One after the other: the threads never block, and ten of them would starve other tests.
  @Test(
    "in many racing rounds, from other threads", .serialized, arguments: StorageStrategy.allCases)
  func racingRounds(_ strategy: StorageStrategy) async {
    let hub = EventHub<Int>(storage: strategy)
    let stop = Atomic(false)
    let sending = (0..<2).map { _ in
      RunningThread { while !stop.load(ordering: .relaxed) { hub.send(1) } }
    }
    for _ in 0..<500 {
      let consumer = Task {
        var count = 0
        for await _ in hub.events(buffering: .latest) { count += 1 }
        return count
      }
      await Task.yield()
      consumer.cancel()
      _ = await consumer.value
    }
    stop.store(true, ordering: .relaxed)
    for thread in sending { thread.join() }
    #expect(hub.subscriberCount == 0)
  }

  @Test("finish racing cancellation")
  func finishRacingCancellation() async {
    for _ in 0..<300 {
      let hub = EventHub<Int>()
      let consumers = (0..<3).map { _ in
        let sequence = hub.events()
        return Task { for await _ in sequence {} }
      }
      async let finished: Void = hub.finish()
      for consumer in consumers { consumer.cancel() }
      await finished
      for consumer in consumers { await consumer.value }
      #expect(hub.subscriberCount == 0)
    }
  }

  @Test("a consumer that is already cancelled leaves nothing behind")
  func alreadyCancelled() async {
    let hub = EventHub<Int>()
    let started = Gate("cancelled")
    let task = Task {
      await eventually { started.isOpen }
      var count = 0
      for await _ in hub.events() { count += 1 }
      return count
    }
    task.cancel()
    started.open()
    #expect(await task.value == 0)
    #expect(hub.subscriberCount == 0)
  }

  @Test("cancelling runs no user code: the consumer destroys what waits for it, later")
  func noUserCode() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<RecordingObserver>()
    let reader = Reader()
    let sequence = hub.events()
    let consumer = Task { await reader.readAll(sequence) }
    hub.send(RecordingObserver(tracker: tracker))
    await eventually { reader.received.value == 1 }
    // Afterwards the consumer waits for the next event, and cannot take it.
    reader.executor.queue.sync {}
    reader.executor.queue.suspend()
    for _ in 0..<3 { hub.send(RecordingObserver(tracker: tracker)) }
    consumer.cancel()
    #expect(tracker.live == 3)
    reader.executor.queue.resume()
    await consumer.value
    #expect(reader.received.value == 1)
    #expect(tracker.live == 0)
    #expect(hub.subscriberCount == 0)
  }

  @Test("what an iterator has taken and does not return is discarded, and counted")
  func takenAndNotReturned() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<RecordingObserver>()
    let statistics = await Task {
      let iterator = hub.events().makeAsyncIterator()
      for _ in 0..<5 { hub.send(RecordingObserver(tracker: tracker)) }
      // It takes all of them at once.
      _ = await iterator.next()
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(await iterator.next() == nil)
      #expect(tracker.live == 0)
      return iterator.statistics
    }.value
    #expect(statistics.delivered == 1 && statistics.discarded == 4 && statistics.pending == 0)
  }

  @Test("a consumer that never iterates, or is abandoned, leaves nothing behind")
  func abandoned() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<RecordingObserver>()
    do {
      let never = hub.events()
      hub.send(RecordingObserver(tracker: tracker))
      #expect(hub.subscriberCount == 1)
      withExtendedLifetime(never) {}
    }
    #expect(hub.subscriberCount == 0)
    #expect(tracker.live == 0)
    let sequence = hub.events()
    do {
      let iterator = sequence.makeAsyncIterator()
      hub.send(RecordingObserver(tracker: tracker))
      _ = await iterator.next()
    }
    // The iterator is gone, the sequence is not.
    #expect(hub.subscriberCount == 0)
    withExtendedLifetime(sequence) {}
    let broken = hub.events()
    hub.send(RecordingObserver(tracker: tracker))
    for await _ in broken { break }
    #expect(hub.subscriberCount == 0)
    #expect(tracker.live == 0)
  }

  @Test("iterating twice: the second time begins a subscription of its own")
  func twice() async {
    let hub = EventHub<Int>()
    let sequence = hub.events()
    hub.send(1)
    let first = sequence.makeAsyncIterator()
    let second = sequence.makeAsyncIterator()
    #expect(hub.subscriberCount == 2)
    hub.send(2)
    hub.finish()
    var received: [[Int]] = [[], []]
    while let event = await first.next() { received[0].append(event) }
    while let event = await second.next() { received[1].append(event) }
    #expect(received == [[1, 2], [2]])
  }

  @Test(
    "unsubscribing while a handler sends, subscribes and cancels",
    arguments: StorageStrategy.allCases)
  func insideHandlers(_ strategy: StorageStrategy) {
    let hub = EventHub<Int>(storage: strategy)
    let holder = Holder<EventSubscription>(nil)
    let calls = Atomic<Int>(0)
    let subscription = hub.subscribe { [weak hub] event in
      calls.add(1, ordering: .relaxed)
      guard event < 5, let hub else { return }
      holder.value = hub.subscribe { _ in calls.add(1, ordering: .relaxed) }
      hub.send(event + 1)
      holder.value = nil
    }
    hub.send(0)
    // Six calls of the first. Each of the others but the last is cancelled before its call.
    #expect(calls.load(ordering: .relaxed) == 6 + 1)
    subscription.cancel()
    #expect(hub.send(0) == 0)
  }

  @Test("a subscription that its own handler captures is released when it is cancelled")
  func ownHandler() {
    let tracker = LifetimeTracker()
    let hub = EventHub<Int>()
    do {
      let captured = RecordingObserver(tracker: tracker)
      let holder = Holder<EventSubscription>(nil)
      holder.value = hub.subscribe { _ in
        captured.receive(0)
        holder.value?.cancel()
      }
      #expect(hub.send(1) == 1)
      #expect(hub.send(2) == 0)
    }
    #expect(tracker.live == 0)
  }
}
