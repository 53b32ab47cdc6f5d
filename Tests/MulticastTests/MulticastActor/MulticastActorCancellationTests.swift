import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("Cancelling the task that invokes", .timeLimit(.minutes(10)))
struct MulticastActorCancellationTests {
  @Test(
    "in order, each delegate is called all the same, and sees it",
    arguments: StorageStrategy.allCases, [0, 1, 2])
  func inOrder(storage: StorageStrategy, suspendedIn: Int) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let inside = AsyncGate()
    let delegates = (0..<3).map { id in
      AwaitedObserver(id, journal: journal) { _ in
        if id == suspendedIn {
          inside.open()
          await AsyncGate().waitUnlessCancelled()
        }
        #expect(Task.isCancelled == (id >= suspendedIn))
      }
    }
    for delegate in delegates { hub.add(delegate) }
    let task = Task { await hub.invoke { await $0.receive(1) } }
    await inside.wait()
    task.cancel()
    await task.value
    #expect(journal.take() == [0, 1, 2])
  }

  @Test("a body that throws stops the invocation", arguments: StorageStrategy.allCases)
  func aBodyThatThrows(storage: StorageStrategy) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let inside = AsyncGate()
    let delegates = (0..<3).map { id in
      AwaitedObserver(id, journal: journal) { _ in
        guard id == 1 else { return }
        inside.open()
        await AsyncGate().waitUnlessCancelled()
      }
    }
    for delegate in delegates { hub.add(delegate) }
    let task = Task {
      try await hub.invoke {
        try Task.checkCancellation()
        await $0.receive(1)
      }
    }
    await inside.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(journal.take() == [0, 1])
    // Nothing is left behind: the hub works as before.
    await hub.invoke { _ in }
    let registration = hub.add(delegates[0])
    await registration.cancelAndWait()
  }

  @Test("a typed error stops it with its type", arguments: StorageStrategy.allCases)
  func typedError(storage: StorageStrategy) async {
    struct Veto: Error, Equatable { let id: Int }
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let delegates = (0..<4).map { AwaitedObserver($0, journal: journal) }
    for delegate in delegates { hub.add(delegate) }
    do throws(Veto) {
      try await hub.invoke { delegate throws(Veto) in
        await delegate.receive(1)
        if delegate.id == 2 { throw Veto(id: delegate.id) }
      }
      Issue.record("it did not throw")
    } catch {
      #expect(error == Veto(id: 2))
    }
    #expect(journal.take() == [0, 1, 2])
  }

  @Test(
    "concurrently, it reaches every child, those that wait for the limit too",
    arguments: StorageStrategy.allCases, [nil, 1, 2])
  func concurrently(storage: StorageStrategy, limit: Int?) async {
    let hub = AwaitingHub(storage: storage)
    let begun = Atomic(0)
    let delegates = (0..<4).map { id in
      AwaitedObserver(id) { _ in
        begun.add(1, ordering: .relaxed)
        await AsyncGate().waitUnlessCancelled()
        #expect(Task.isCancelled)
      }
    }
    for delegate in delegates { hub.add(delegate) }
    let task = Task {
      await hub.invokeConcurrently(limit: limit) { delegate in
        await delegate.receive(1)
        try Task.checkCancellation()
      }
    }
    await yieldTask { begun.load(ordering: .relaxed) == limit ?? 4 }
    task.cancel()
    let results = await task.value
    #expect(results.count == 4)
    for result in results {
      #expect(throws: CancellationError.self) { try result.get() }
    }
    #expect(delegates.map(\.calls) == [1, 1, 1, 1])
  }

  @Test("a timer that is left over ends with the invocation", arguments: StorageStrategy.allCases)
  func theTimerEnds(storage: StorageStrategy) async {
    let clock = ManualClock()
    let hub = AwaitingHub(storage: storage)
    let delegate = AwaitedObserver(1) { _ in await clock.untilATaskSleeps() }
    hub.add(delegate)
    let results = await hub.invokeConcurrently(timeout: .seconds(1), clock: clock) {
      await $0.receive(1)
    }
    #expect(results.count == 1)
    #expect(throws: Never.self) { try results[0].get() }
    #expect(clock.sleeperCount == 0)
  }

  @Test(
    "in the queue of a serialized hub it blocks no other invocation, and keeps the order",
    arguments: StorageStrategy.allCases, [0, 1, 2])
  func queued(storage: StorageStrategy, cancelled: Int) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage, serialized: true)
    let leave = AsyncGate()
    let inside = AsyncGate()
    let delegate = AwaitedObserver(0) { value in
      journal.record(value)
      #expect(Task.isCancelled == (value == cancelled + 1))
      guard value == 0 else { return }
      inside.open()
      await leave.wait()
    }
    hub.add(delegate)
    let first = Task { await hub.invoke { await $0.receive(0) } }
    await inside.wait()
    var tasks: [Task<Void, Never>] = []
    for index in 0..<3 {
      tasks.append(Task { await hub.invoke { await $0.receive(index + 1) } })
      await yieldTask { await hub.waitingCount == index + 1 }
    }
    tasks[cancelled].cancel()
    leave.open()
    await first.value
    for task in tasks { await task.value }
    #expect(journal.take() == [0, 1, 2, 3])
    await hub.invoke { await $0.receive(4) }
    #expect(journal.take() == [4])
  }
}
