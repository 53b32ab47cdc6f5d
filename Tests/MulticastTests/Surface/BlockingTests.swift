import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A blocked registration is skipped", .timeLimit(.minutes(10)))
struct BlockingTests {
  @Test(
    "no way of calling reaches it; it still is registered", arguments: StorageStrategy.allCases,
    Ownership.allCases)
  func skipped(storage: StorageStrategy, ownership: Ownership) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0) }
    let registrations = delegates.map { hub.add($0, ownership: ownership) }
    registrations[1].block()
    #expect(registrations.map(\.isBlocked) == [false, true, false])
    hub.forEach { $0.receive(1) }
    #expect(hub.invoke { $0.receive(1) } == 2)
    #expect(hub.results { $0.id } == [.success(0), .success(2)])
    #expect(hub.resultsByDelegate { $0.id }.map(\.delegate.id) == [0, 2])
    #expect(hub.firstResult { $0.id > 0 ? $0.id : nil } == 2)
    #expect(delegates.map(\.calls) == [2, 0, 2])
    // Registered.
    #expect(registrations.map(\.isActive) == [true, true, true])
    #expect(hub.count == 3 && hub.contains(delegates[1]) && !hub.isEmpty)
    #expect(hub.delegates.map(\.id) == [0, 1, 2] && hub.map(\.id) == [0, 1, 2])
    #expect(hub[1]?.id == 1 && hub.firstIndex(of: delegates[2]) == 2)
    registrations[1].unblock()
    #expect(hub.invoke { $0.receive(1) } == 3)
    #expect(delegates.map(\.calls) == [3, 1, 3])
  }

  @Test("blocks nest, over all handles of the registration", arguments: [false, true])
  func nesting(hasQueue: Bool) async {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    let first = hasQueue ? hub.add(delegate, on: .global()) : hub.add(delegate)
    let second = hub.add(delegate)
    first.block()
    second.withBlocked {
      #expect(hub.invoke { $0.receive(1) } == 0)
      first.unblock()
      #expect(first.isBlocked && second.isBlocked)
      #expect(hub.invoke { $0.receive(1) } == 0)
    }
    #expect(!first.isBlocked)
    await first.withBlocked {
      await Task.yield()
      #expect(hub.invoke { $0.receive(1) } == 0)
    }
    #expect(hub.invoke { $0.receive(1) } == 1)
    await hub.flush()
    #expect(delegate.calls == 1)
  }

  @Test("a result that cannot be copied and an error leave the scope; the block ends")
  func scope() {
    struct Token: ~Copyable {}
    struct Veto: Error {}
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    let registration = hub.add(delegate)
    _ = registration.withBlocked { Token() }
    #expect(throws: Veto.self) { try registration.withBlocked { throw Veto() } }
    #expect(!registration.isBlocked)
  }

  @Test("what waits on a queue is kept for the unblock, and comes before what is sent then")
  func queueKeeps() async {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "queue", attributes: .concurrent)
    let received = Journal()
    let delegate = ActingObserver(onReceive: { received.record($1) })
    let registration = hub.add(delegate, on: queue)
    queue.suspend()
    for value in 0..<100 { hub.invoke { $0.receive(value) } }
    registration.block()
    hub.invoke { $0.receive(1000) }
    queue.resume()
    await hub.flush()
    await withCheckedContinuation { done in queue.async(flags: .barrier) { done.resume() } }
    #expect(received.entries.isEmpty)
    #expect(registration.statistics?.pending == 100)
    registration.unblock()
    hub.invoke { $0.receive(100) }
    await hub.flush()
    #expect(received.entries == Array(0...100))
    #expect(registration.statistics?.discarded == 0)
  }

  @Test("a block inside the callback keeps the rest of the burst, in order")
  func blockedInside() async {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "queue")
    let received = Journal()
    let handle = Holder<Registration<any Observing>>(nil)
    let delegate = ActingObserver(onReceive: { _, value in
      received.record(value)
      if value.isMultiple(of: 10) { handle.value?.block() }
    })
    handle.value = hub.add(delegate, on: queue)
    queue.suspend()
    for value in 0..<30 { hub.invoke { $0.receive(value) } }
    queue.resume()
    for burst in 0..<3 {
      await eventually { received.entries.count == 10 * burst + 1 }
      await hub.flush()
      #expect(received.entries == Array(0...10 * burst))
      handle.value?.unblock()
    }
    await hub.flush()
    #expect(received.entries == Array(0..<30))
  }

  @Test("a block while a delegate is asked for its actor keeps the first call for the unblock")
  func blockedAtFirstCall() async {
    let hub = MulticastDelegate<Station>()
    let station = Station()
    let registration = hub.add(station)
    let enqueued = hub.invoke(
      onEach: { station in
        registration.block()
        return station
      }
    ) { await $0.receive(1) }
    #expect(enqueued == 1)
    await hub.flush()
    await station.perform { _ in }  // after what was enqueued
    #expect(await station.received == [])
    #expect(registration.statistics?.pending == 1)
    registration.unblock()
    await hub.flush()
    #expect(await station.received == [1])
    hub.invoke(onEach: { $0 }) { await $0.receive(2) }
    await hub.flush()
    #expect(await station.received == [1, 2])
  }

  @Test("cancelling while blocked discards what waits; a later unblock does nothing")
  func cancelled() async {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "queue")
    for (ownership, isCalledOnQueue) in [(Ownership.weak, true), (.strong, true), (.strong, false)]
    {
      var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
      queue.suspend()
      let registration =
        isCalledOnQueue
        ? hub.add(delegate!, ownership: ownership, on: queue)
        : hub.add(delegate!, ownership: ownership)
      hub.invoke { $0.receive(1) }
      registration.block()
      registration.cancel()
      queue.resume()
      registration.unblock()
      registration.unblock()
      #expect(!registration.isActive && !registration.isBlocked)
      #expect(hub.invoke { $0.receive(1) } == 0)
      delegate = nil
    }
    await eventually { tracker.live == 0 }
  }

  @Test("a registration that is changed by another add is not blocked")
  func merged() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    let old = hub.add(delegate)
    old.withBlocked {
      let merged = hub.add(delegate, ownership: .strong)
      #expect(!merged.isBlocked)
      #expect(hub.invoke { $0.receive(1) } == 1)
    }
    #expect(hub.invoke { $0.receive(1) } == 1)
  }

  @Test("calls on each delegate's actor, and closures of an actor, skip it too")
  func isolated() async {
    let hub = MulticastDelegate<RecordingActor>()
    let journal = Journal()
    let delegates = (0..<2).map { RecordingActor($0, journal: journal) }
    let registrations = delegates.map { hub.add($0) }
    registrations[0].block()
    #expect(hub.invoke(onEach: { $0 }, { $0.receive(1) }) == 1)
    await hub.flush()
    #expect(journal.take() == [1])
    registrations[0].unblock()
    #expect(hub.invoke(onEach: { $0 }, { $0.receive(1) }) == 2)
    await hub.flush()
    #expect(journal.take().sorted() == [0, 1])
    // Now it has a mailbox.
    registrations[0].withBlocked {
      #expect(hub.invoke(onEach: { $0 }, { $0.receive(1) }) == 1)
    }
    await hub.flush()
    #expect(journal.take() == [1])
  }

  @Test("no later registration inherits the blocks of one that ended while it was blocked")
  func reuse() {
    let hub = MulticastDelegate<any Observing>()
    for _ in 0..<2000 {
      let delegate = RecordingObserver()
      let registration = hub.add(delegate)
      #expect(!registration.isBlocked)
      registration.block()
      hub.remove(delegate)
    }
    #expect(hub.isEmpty)
  }

  @Test(
    "an actor's invocation skips it, and does not report it as late",
    arguments: StorageStrategy.allCases)
  func actors(storage: StorageStrategy) async {
    let hub = AwaitingHub(storage: storage)
    let delegates = (0..<3).map { AwaitedObserver($0) }
    let registrations = delegates.map { hub.add($0) }
    registrations[1].block()
    await hub.invoke { await $0.receive(1) }
    #expect(await hub.invokeConcurrently { await $0.receive(1) }.count == 2)
    #expect(await hub.resultsByDelegate(timeout: .zero) { $0.id }.map(\.delegate.id) == [0, 2])
    #expect(delegates.map(\.calls) == [2, 0, 2])
    #expect(hub.count == 3)
    registrations[1].unblock()
    await hub.invoke { await $0.receive(1) }
    #expect(delegates.map(\.calls) == [3, 1, 3])
  }

  @Test(
    "while threads block, unblock and invoke: none reaches it inside its own scope, all others count",
    arguments: StorageStrategy.allCases, [false, true])
  func racing(storage: StorageStrategy, hasQueue: Bool) async {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (inside, outside, sent) = (Counter(), Counter(), Counter())
    let delegate = ActingObserver(onReceive: { $1 < 0 ? inside.add() : outside.add() })
    let registration = hasQueue ? hub.add(delegate, on: .global()) : hub.add(delegate)
    runThreads(4) { thread in
      for round in 0..<500 {
        if thread < 2 {
          registration.withBlocked { _ = hub.invoke { $0.receive(-1) } }
        } else {
          sent.add(hub.invoke { $0.receive(round) })
        }
      }
    }
    #expect(!registration.isBlocked)
    await hub.flush()
    #expect(inside.value == 0)
    #expect(outside.value == sent.value)
    #expect(hub.invoke { $0.receive(1) } == 1)
    withExtendedLifetime(delegate) {}
  }

  @Test("unblock without block is refused")
  func unbalanced() async throws {
    let delegate = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let observer = RecordingObserver()
      MulticastDelegate<any Observing>().add(observer, ownership: .strong).unblock()
      let hub = MulticastDelegate<any Observing>()
      hub.add(observer).unblock()
    }
    let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let observer = RecordingObserver()
      let hub = MulticastDelegate<any Observing>()
      hub.add(observer, on: .global()).unblock()
    }
    let hub = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = EventHub<Int>()
      hub.withBlocked {}
      hub.unblock()
    }
    let topics = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TopicHub<Int, Int>().unblock()
    }
    for result in [delegate, queue, hub, topics] {
      let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(message.contains("unblock() without block()"))
      #expect(message.contains("withBlocked"))
    }
  }
}
