internal import Dispatch

// Tests run on the few threads of the concurrency pool, which also serve the global queues. A test
// that waits for a task or for a global queue must therefore suspend and not block.

/// Suspends until `condition` holds. Traps if that takes too long.
public func eventually(_ condition: @Sendable () -> Bool) async {
  let deadline = ContinuousClock.now.advanced(by: .seconds(timeLimit))
  while !condition() {
    precondition(.now < deadline, "a condition did not come true within \(timeLimit) s")
    await Task.yield()
  }
}

/// Runs `body`, which may block, on a thread of its own, and suspends until it has returned.
public func onOwnThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  let result = await withCheckedContinuation { continuation in
    // The queue joins the thread, so that it is gone before the process checks for leaks.
    let thread = RunningThread { continuation.resume(returning: body()) }
    DispatchQueue(label: "join").async { thread.join() }
  }
  return result
}
