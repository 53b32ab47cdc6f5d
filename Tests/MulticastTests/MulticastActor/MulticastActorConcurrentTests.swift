import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("Concurrent invocations", .timeLimit(.minutes(10)))
struct MulticastActorConcurrentTests {
  struct Failure: Error, Equatable { let id: Int }

  @Test(
    "results come in registration order, and one failure does not stop the rest",
    arguments: StorageStrategy.allCases, [nil, 1, 3, 1_000])
  func resultsInRegistrationOrder(storage: StorageStrategy, limit: Int?) async {
    let hub = AwaitingHub(storage: storage)
    let delegates = (0..<20).map { AwaitedObserver($0) }
    for delegate in delegates { hub.add(delegate) }
    // The last one ends first.
    let gates = (0...20).map { _ in AsyncGate() }
    gates[20].open()
    let results = await hub.invokeConcurrently(limit: limit) { delegate in
      if limit == nil || limit == 1_000 { await gates[delegate.id + 1].wait() }
      defer { gates[delegate.id].open() }
      await delegate.receive(1)
      if delegate.id % 5 == 2 { throw Failure(id: delegate.id) }
      return delegate.id
    }
    #expect(results.count == 20)
    for (id, result) in results.enumerated() {
      if id % 5 == 2 {
        #expect(throws: Failure(id: id)) { try result.get() }
      } else {
        #expect((try? result.get()) == id)
      }
    }
    #expect(delegates.allSatisfy { $0.calls == 1 })
  }

  @Test(
    "the limit is reached and never exceeded", arguments: StorageStrategy.allCases, [1, 2, 7])
  func theLimitIsHonoured(storage: StorageStrategy, limit: Int) async {
    let hub = AwaitingHub(storage: storage)
    let delegates = (0..<40).map { AwaitedObserver($0) }
    for delegate in delegates { hub.add(delegate) }
    let inside = Atomic(0)
    let most = Atomic(0)
    let full = AsyncGate()
    let results = await hub.invokeConcurrently(limit: limit) { delegate in
      let now = inside.add(1, ordering: .sequentiallyConsistent).newValue
      most.max(now, ordering: .sequentiallyConsistent)
      // No call returns before the limit was reached once.
      if now == limit { full.open() }
      await full.wait()
      await Task.yield()
      inside.subtract(1, ordering: .sequentiallyConsistent)
      await delegate.receive(1)
    }
    #expect(most.load(ordering: .relaxed) == limit)
    #expect(results.count == 40)
    #expect(delegates.allSatisfy { $0.calls == 1 })
  }

  @Test(
    "when the time is over the late ones are cancelled and reported as such",
    arguments: StorageStrategy.allCases)
  func timeout(storage: StorageStrategy) async {
    let clock = ManualClock()
    let hub = AwaitingHub(storage: storage)
    let inside = Atomic(0)
    let delegates = (0..<6).map { id in
      AwaitedObserver(id) { _ in
        guard id >= 3 else { return }
        inside.add(1, ordering: .relaxed)
        await AsyncGate().waitUnlessCancelled()
        #expect(Task.isCancelled)
      }
    }
    for delegate in delegates { hub.add(delegate) }
    // With this limit the last three are called when the first three have given their answers.
    async let pending = hub.invokeConcurrently(limit: 3, timeout: .seconds(5), clock: clock) {
      await $0.receive(1)
      return $0.id
    }
    await clock.untilATaskSleeps()
    await yieldTask { inside.load(ordering: .relaxed) == 3 }
    clock.advance(by: .seconds(4))
    #expect(clock.sleeperCount == 1, "it is not yet time")
    clock.advance(by: .seconds(1))
    let results = await pending
    #expect(results.count == 6)
    for id in 3..<6 {
      #expect(throws: DeliveryTimeoutError.self) { try results[id].get() }
    }
    for id in 0..<3 {
      #expect((try? results[id].get()) == id)
    }
    #expect(clock.sleeperCount == 0)
    #expect("\(results[3])".contains("5.0 seconds"))
  }

  @Test(
    "when the time is over, those that have not begun do not call, and are reported too",
    arguments: StorageStrategy.allCases)
  func timeoutBeforeTheTurn(storage: StorageStrategy) async {
    let clock = ManualClock()
    let hub = AwaitingHub(storage: storage)
    let delegates = (0..<5).map { id in
      AwaitedObserver(id) { _ in
        guard id == 1 else { return }
        await clock.untilATaskSleeps()
        clock.advance(by: .seconds(1))
        await AsyncGate().waitUnlessCancelled()
      }
    }
    let registrations = delegates.map { hub.add($0) }
    registrations[4].cancel()
    let results = await hub.invokeConcurrently(
      limit: 1, timeout: .seconds(1), clock: clock
    ) { delegate in
      await delegate.receive(1)
      return delegate.id
    }
    #expect(results.count == 4)
    #expect((try? results[0].get()) == 0)
    for result in results.dropFirst() {
      #expect(throws: DeliveryTimeoutError(timeout: .seconds(1))) { try result.get() }
    }
    #expect(delegates.map(\.calls) == [1, 1, 0, 0, 0])
  }

  @Test("a call that ends after the time is late, also if the timer has not run yet")
  func lateWithoutTheTimer() async {
    let clock = ManualClock()
    let hub = AwaitingHub()
    let delegates = (0..<2).map { AwaitedObserver($0) { _ in } }
    for delegate in delegates { hub.add(delegate) }
    // Each call keeps its thread.
    let results = await hub.invokeConcurrently(limit: 1, timeout: .seconds(1), clock: clock) {
      clock.advance(by: .seconds(2))
      return $0.id
    }
    #expect(results.count == 2)
    for result in results {
      #expect(throws: DeliveryTimeoutError(timeout: .seconds(1))) { try result.get() }
    }
    #expect(
      await !hub.allSatisfy(timeout: .seconds(1), clock: clock) { _ in
        clock.advance(by: .seconds(2))
        return true
      })
  }

  @Test("two invocations overlap where one of them is suspended")
  func twoInvocationsOverlap() async {
    let hub = AwaitingHub()
    let other = AsyncGate()
    let first = AwaitedObserver(1) { value in
      if value == 1 { await other.wait() } else { other.open() }
    }
    hub.add(first)
    async let one: Void = hub.invoke { await $0.receive(1) }
    await yieldTask { first.calls == 1 }
    async let two: Void = hub.invoke { await $0.receive(2) }
    _ = await (one, two)
    #expect(first.calls == 2)
  }

  @Test("a hub without delegates answers at once", arguments: StorageStrategy.allCases)
  func withoutDelegates(storage: StorageStrategy) async {
    let hub = AwaitingHub(storage: storage)
    let clock = ManualClock()
    let results = await hub.invokeConcurrently(timeout: .seconds(1), clock: clock) { $0.id }
    #expect(results.isEmpty)
    #expect(clock.sleeperCount == 0)
    #expect(await hub.firstResult { $0.id } == nil)
    #expect(await hub.allSatisfy { _ in false })
    #expect(await !hub.contains { _ in true })
  }
}
