import Multicast
import MulticastTestSupport
import Testing

@Suite("The first answer, the last, and votes", .timeLimit(.minutes(10)))
struct MulticastActorAnswersTests {
  struct Failure: Error, Equatable { let id: Int }

  private let delegates = (0..<6).map { AwaitedObserver($0) }

  private func makeHub(_ storage: StorageStrategy) -> AwaitingHub {
    let hub = AwaitingHub(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    return hub
  }

  @Test(
    "the first answer that is not nil wins, and the others are cancelled",
    arguments: StorageStrategy.allCases)
  func firstAnswerWins(storage: StorageStrategy) async {
    let cancelled = Journal()
    let hub = makeHub(storage)
    let answer = await hub.firstResult { delegate -> Int? in
      switch delegate.id {
      case 4:
        return 40
      case 0, 1:
        return nil
      default:
        await AsyncGate().waitUnlessCancelled()
        cancelled.record(delegate.id)
        return delegate.id  // Too late.
      }
    }
    #expect(answer == 40)
    #expect(Set(cancelled.take()).isSubset(of: [2, 3, 5]))
    #expect(await hub.firstResult { _ -> Int? in nil } == nil)
  }

  @Test("an error ends the race", arguments: StorageStrategy.allCases)
  func anErrorEndsTheRace(storage: StorageStrategy) async {
    let hub = makeHub(storage)
    do throws(Failure) {
      let answer = try await hub.firstResult { delegate async throws(Failure) -> Int? in
        if delegate.id == 3 { throw Failure(id: 3) }
        await AsyncGate().waitUnlessCancelled()
        return delegate.id
      }
      Issue.record("it answered \(answer as Any)")
    } catch {
      #expect(error == Failure(id: 3))
    }
  }

  @Test("without an answer in time there is none", arguments: StorageStrategy.allCases)
  func noAnswerInTime(storage: StorageStrategy) async {
    let clock = ManualClock()
    let hub = makeHub(storage)
    async let answer = hub.firstResult(timeout: .seconds(2), clock: clock) { delegate -> Int? in
      await AsyncGate().waitUnlessCancelled()
      return delegate.id
    }
    await clock.untilATaskSleeps()
    clock.advance(by: .seconds(2))
    #expect(await answer == nil)
    #expect(clock.sleeperCount == 0)
  }

  @Test(
    "the last answer is that of the last delegate that has one, in any order of answers",
    arguments: StorageStrategy.allCases)
  func lastAnswerWins(storage: StorageStrategy) async {
    let hub = makeHub(storage)
    let laterOneHasAnswered = AsyncGate()
    let answer = await hub.lastResult { delegate -> Int? in
      switch delegate.id {
      case 5:
        return nil
      case 4:
        laterOneHasAnswered.open()
      default:
        await laterOneHasAnswered.wait()
      }
      return delegate.id
    }
    #expect(answer == 4)
    #expect(await hub.lastResult { _ -> Int? in nil } == nil)
    #expect(await AwaitingHub(storage: storage).lastResult { $0.id } == nil)
  }

  @Test("an error ends the search for the last answer", arguments: StorageStrategy.allCases)
  func anErrorEndsTheSearchForTheLast(storage: StorageStrategy) async {
    let hub = makeHub(storage)
    await #expect(throws: Failure(id: 3)) {
      _ = try await hub.lastResult { delegate async throws(Failure) -> Int? in
        if delegate.id == 3 { throw Failure(id: 3) }
        await AsyncGate().waitUnlessCancelled()
        return delegate.id
      }
    }
  }

  @Test("an answer that is late is not the last", arguments: StorageStrategy.allCases)
  func lateLastAnswer(storage: StorageStrategy) async {
    let clock = ManualClock()
    let hub = makeHub(storage)
    async let answer = hub.lastResult(timeout: .seconds(2), clock: clock) { delegate -> Int? in
      if delegate.id > 3 { await AsyncGate().waitUnlessCancelled() }
      return delegate.id
    }
    await clock.untilATaskSleeps()
    clock.advance(by: .seconds(2))
    let position = await answer ?? -1
    #expect(position < 4)
  }

  @Test("votes are decided by the first that matters", arguments: StorageStrategy.allCases)
  func votes(storage: StorageStrategy) async {
    let hub = makeHub(storage)
    #expect(await hub.allSatisfy { $0.id < 6 })
    #expect(await !hub.contains { $0.id == 6 })
    // The others would vote only after they are cancelled.
    #expect(
      await !hub.allSatisfy { delegate in
        if delegate.id == 4 { return false }
        await AsyncGate().waitUnlessCancelled()
        return true
      })
    #expect(
      await hub.contains { delegate in
        if delegate.id == 4 { return true }
        await AsyncGate().waitUnlessCancelled()
        return false
      })
  }

  @Test("a vote that is late counts as a no", arguments: StorageStrategy.allCases)
  func lateVotes(storage: StorageStrategy) async {
    let clock = ManualClock()
    let hub = makeHub(storage)
    async let all = hub.allSatisfy(timeout: .seconds(1), clock: clock) { delegate in
      if delegate.id == 5 { await AsyncGate().waitUnlessCancelled() }
      return true
    }
    await clock.untilATaskSleeps()
    clock.advance(by: .seconds(1))
    #expect(await !all)
    async let any = hub.contains(timeout: .seconds(1), clock: clock) { delegate in
      guard delegate.id == 5 else { return false }
      await AsyncGate().waitUnlessCancelled()
      return true
    }
    await clock.untilATaskSleeps()
    clock.advance(by: .seconds(1))
    #expect(await !any)
  }

  @Test("a vote that throws ends it", arguments: StorageStrategy.allCases)
  func votesThatThrow(storage: StorageStrategy) async {
    let hub = makeHub(storage)
    await #expect(throws: Failure(id: 2)) {
      _ = try await hub.allSatisfy { delegate throws(Failure) in
        if delegate.id == 2 { throw Failure(id: 2) }
        return true
      }
    }
  }

  @Test(
    "the descriptions tell type, count, storage and delegates", arguments: StorageStrategy.allCases)
  func descriptions(storage: StorageStrategy) {
    let hub = AwaitingHub(storage: storage)
    #expect(hub.debugDescription == "\(hub) []")
    for delegate in delegates.prefix(2) { hub.add(delegate) }
    #expect("\(hub)".hasPrefix("MulticastActor<"))
    #expect("\(hub)".hasSuffix("(count: 2, storage: \(storage))"))
    #expect(String(reflecting: hub) == "\(hub) [AwaitedObserver, AwaitedObserver]")
  }

  @Test("nothing is kept when it is over", arguments: StorageStrategy.allCases)
  func nothingIsKept(storage: StorageStrategy) async {
    let tracker = LifetimeTracker()
    do {
      let hub = AwaitingHub(storage: storage)
      for id in 0..<10 {
        hub.add(AwaitedObserver(id, tracker: tracker), ownership: .strong)
      }
      for _ in 0..<10 {
        _ = await hub.firstResult { $0.id }
        _ = await hub.invokeConcurrently(timeout: .seconds(60)) { await $0.receive(1) }
        await hub.invoke { await $0.receive(1) }
      }
      #expect(tracker.live == 10)
    }
    #expect(tracker.live == 0)
  }
}
