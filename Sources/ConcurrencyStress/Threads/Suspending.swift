internal import Dispatch

// Tests run on the few threads of the concurrency pool, which also serve the global queues. A test
// that waits for a task or for a global queue must therefore suspend and not block.

/// Suspends until `condition` holds. Traps if that takes too long.
///
/// - Parameter condition: called repeatedly.
public func eventually(_ condition: @Sendable () -> Bool) async {
  let deadline = ContinuousClock.now.advanced(by: .seconds(timeLimit))
  while !condition() {
    require(.now < deadline, "a condition did not come true within \(timeLimit) s")
    await Task.yield()
  }
}

/// Runs `body`, which may block, on a thread of its own, and suspends until that thread is gone:
/// what `body` captured is released then, also if the process checks for leaks at once.
///
/// - Parameter body: what the thread does.
/// - Returns: what `body` returns.
public func onOwnThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    let result = ThreadResult<R>()
    let thread = RunningThread { result.value = body() }
    DispatchQueue(label: "join").async {
      thread.join()
      continuation.resume(returning: result.value!)
    }
  }
}

/// What a thread has returned.
private final class ThreadResult<R: Sendable>: @unchecked Sendable {
  // Sendable: set by the thread, and read after it was joined.
  var value: R?
}
