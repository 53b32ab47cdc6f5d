import ConcurrencyStress
import Dispatch
import MulticastMacros
import Testing

// Requirements that call all delegates at once, and stop at the first error.

@Multicast
private protocol Working: AnyObject, Sendable {
  @Answer(calls: .concurrent) func work() async throws
  @Answer(errors: .afterAll, calls: .concurrent) func workAll() async throws
}

private final class Failing: Working {
  func work() async throws { throw Failure(id: 1) }
  func workAll() async throws { throw Failure(id: 2) }
}

private final class Counting: Working {
  let calls = Counter()

  func work() async throws { calls.add() }
  func workAll() async throws { calls.add() }
}

/// Runs one task after the other, in the order in which they begin.
private final class SerialTaskExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "serial")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

@Suite("With calls at once, a delegate that was not called before the first error is not called")
struct FirstErrorTests {
  /// The calls follow each other before the caller sees the error.
  @Test("also before the caller runs")
  func callerRunsLast() async {
    let composite = MulticastWorking()
    let counting = (0..<10).map { _ in Counting() }
    let failing = Failing()
    for delegate in counting[..<5] { composite.add(delegate) }
    composite.add(failing)
    for delegate in counting[5...] { composite.add(delegate) }
    await withTaskExecutorPreference(SerialTaskExecutor()) {
      await #expect(throws: Failure(id: 1)) { try await composite.work() }
      #expect(counting.map(\.calls.value) == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
      await #expect(throws: Failure(id: 2)) { try await composite.workAll() }
      #expect(counting.map(\.calls.value) == [2, 2, 2, 2, 2, 1, 1, 1, 1, 1])
    }
  }
}
