import MulticastTestSupport
import Testing

@testable import Multicast

/// A task that prefers a task executor leaves its actor where it awaits functions of the same
/// actor, and other tasks run there. Each test tries this after each number of steps.
@Suite("A task that prefers a task executor misses nothing while it is away from its actor")
struct TaskExecutorPreferenceTests {
  /// More steps than the task takes.
  private static let steps = 0..<16

  @Test("an invocation of a serialized hub begins after those before it", arguments: steps)
  func invocation(steps: Int) async {
    let executor = SteppedExecutor()
    let hub = AwaitingHub(serialized: true, executor: executor)
    let journal = Journal()
    let leave = AsyncGate()
    let (firstEnded, secondEnded) = (Counter(), Counter())
    let delegate = AwaitedObserver(0) { value in
      journal.record(value)
      guard value == 1 else { return }
      await leave.wait()
      journal.record(-value)
    }
    hub.add(delegate)
    let ends = await onOwnThread {
      Task(executorPreference: executor.preferred) {
        await hub.invoke { await $0.receive(1) }
        firstEnded.add()
      }
      while executor.runNewest() {}  // Now it waits inside the callback.
      Task(executorPreference: executor.preferred) {
        await hub.invoke { await $0.receive(2) }
        secondEnded.add()
      }
      for _ in 0..<steps { _ = executor.runNewest() }
      return executor.run(after: leave.open, until: { firstEnded.value == 1 })
        && executor.run(until: { secondEnded.value == 1 })
    }
    #expect(ends, "an invocation never ends")
    #expect(journal.entries == [1, -1, 2])
    withExtendedLifetime(delegate) {}
  }

  @Test(
    "an event that another task has taken and not returned", arguments: SharedIterator.allCases,
    steps.flatMap { [(steps: $0, isBefore: true), ($0, false)] })
  func events(
    iterator: SharedIterator, _ moment: (steps: Int, isBefore: Bool)
  ) async {
    let (send, next) = iterator.make()
    let journal = Journal()
    let taker = SteppedTaker(journal, next)
    let executor = taker.executor
    let bothReceive = await onOwnThread {
      if moment.isBefore { for event in 1...2 { send(event) } }
      Task(executorPreference: executor.preferred) { await taker.take() }
      for _ in 0..<moment.steps { _ = executor.runNewest() }
      if !moment.isBefore { for event in 1...2 { send(event) } }
      return executor.run(
        after: { Task { await taker.take() } }, until: { !journal.entries.isEmpty })
        && executor.run(until: { journal.entries.count == 2 })
    }
    #expect(bothReceive, "the first task sleeps beside an event")
    #expect(journal.entries.sorted() == [1, 2])
  }
}
