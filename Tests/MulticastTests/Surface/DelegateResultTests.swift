import Multicast
import MulticastTestSupport
import Testing

@Suite("Results with the delegates that gave them", .timeLimit(.minutes(10)))
struct DelegateResultTests {
  private enum Veto: Error, Equatable {
    case by(Int)
  }

  @Test(
    "each delegate is returned with its result or error, in order",
    arguments: StorageStrategy.allCases)
  func inOrder(storage: StorageStrategy) {
    let delegates = (0..<4).map { RecordingObserver($0) }
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    let results = hub.resultsByDelegate { delegate throws(Veto) -> Int in
      delegate.receive(1)
      // One that is removed during the invocation is not called, and has no result.
      if delegate.id == 0 { hub.remove(delegates[2]) }
      guard delegate.id.isMultiple(of: 2) else { throw .by(delegate.id) }
      return delegate.id * 10
    }
    #expect(results.map(\.delegate.id) == [0, 1, 3])
    #expect(results.map(\.result) == [.success(0), .failure(.by(1)), .failure(.by(3))])
    #expect(results.allSatisfy { $0.delegate === delegates[$0.delegate.id] })
    #expect(delegates.map(\.calls) == [1, 1, 0, 1])
  }

  @Test(
    "an actor's results are in registration order, in whatever order the delegates answer",
    arguments: StorageStrategy.allCases, [false, true])
  func concurrently(storage: StorageStrategy, serialized: Bool) async {
    let delegates = (0..<5).map { AwaitedObserver($0) }
    let hub = AwaitingHub(storage: storage, serialized: serialized)
    for delegate in delegates { hub.add(delegate) }
    let last = AsyncGate()
    let results = await hub.resultsByDelegate { delegate -> Int in
      if delegate.id == 4 { last.open() } else { await last.wait() }
      if delegate.id == 1 { throw Veto.by(1) }
      return delegate.id * 10
    }
    #expect(results.map(\.delegate.id) == [0, 1, 2, 3, 4])
    for (delegate, result) in results {
      #expect(delegate === delegates[delegate.id])
      switch result {
      case .success(let value): #expect(value == delegate.id * 10)
      case .failure(let error): #expect(error as? Veto == .by(1) && delegate.id == 1)
      }
    }
  }

  @Test(
    "who timed out is named: those whose call is late, and those that were not called",
    arguments: StorageStrategy.allCases, [3, 5])
  func timedOut(storage: StorageStrategy, limit: Int) async {
    let clock = ManualClock()
    let delegates = (0..<6).map { AwaitedObserver($0) }
    let hub = AwaitingHub(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    async let pending = hub.resultsByDelegate(limit: limit, timeout: .seconds(2), clock: clock) {
      delegate -> Int in
      await delegate.receive(1)
      if delegate.id == 1 { return 1 }
      await AsyncGate().waitUnlessCancelled()
      return delegate.id
    }
    await clock.untilATaskSleeps()
    // Delegate 1 has answered, in time: one more was called instead of it.
    await eventually { delegates.map(\.calls).reduce(0, +) == limit + 1 }
    clock.advance(by: .seconds(2))
    let results = await pending
    #expect(results.map(\.delegate.id) == [0, 1, 2, 3, 4, 5])
    let late = results.filter { (try? $0.result.get()) == nil }
    #expect(late.map(\.delegate.id) == [0, 2, 3, 4, 5])
    for (_, result) in late {
      #expect(throws: DeliveryTimeoutError(timeout: .seconds(2))) { try result.get() }
    }
    #expect(clock.sleeperCount == 0)
  }

  @Test(
    "a delegate that dies in its late call is named too; one that died before it is not",
    arguments: StorageStrategy.allCases)
  func dying(storage: StorageStrategy) async {
    let clock = ManualClock()
    let tracker = LifetimeTracker()
    do {
      let hub = AwaitingHub(storage: storage)
      let holders = (0..<3).map { Holder(AwaitedObserver($0, tracker: tracker)) }
      for holder in holders { hub.add(holder.value!) }
      async let pending = hub.resultsByDelegate(limit: 1, timeout: .seconds(1), clock: clock) {
        delegate in
        holders[0].value = nil  // Only the call holds it now.
        holders[1].value = nil
        await AsyncGate().waitUnlessCancelled()
        _ = delegate
      }
      await clock.untilATaskSleeps()
      await eventually { holders[1].value == nil }
      clock.advance(by: .seconds(1))
      let results = await pending
      #expect(results.map(\.delegate.id) == [0, 2])
    }
    // The call of the last delegate has ended, but its task may still keep `holders`.
    await eventually { tracker.live == 0 }
  }

  @Test("zero time: no delegate is called, and all are named", arguments: StorageStrategy.allCases)
  func noTime(storage: StorageStrategy) async {
    let delegates = (0..<3).map { AwaitedObserver($0) }
    let hub = AwaitingHub(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    let results = await hub.resultsByDelegate(timeout: .zero) { await $0.receive(1) }
    #expect(results.map(\.delegate.id) == [0, 1, 2])
    #expect(delegates.allSatisfy { $0.calls == 0 })
    for (_, result) in results {
      #expect(throws: DeliveryTimeoutError(timeout: .zero)) { try result.get() }
    }
  }
}
