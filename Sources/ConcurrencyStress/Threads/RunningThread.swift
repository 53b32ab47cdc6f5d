public import Dispatch
internal import Foundation

/// A thread of its own, not one of a pool. It must be joined.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class RunningThread: Sendable {
  private let thread: JoinableThread
  private let finished = DispatchSemaphore(value: 0)
  private let isJoined = Guarded(false)

  /// Starts a thread that runs `body`.
  ///
  /// - Parameters:
  ///   - stackSize: the size of its stack in bytes; the usual one if `nil`.
  ///   - body: what the thread does.
  public init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    thread = JoinableThread(stackSize: stackSize) { [finished] in
      body()
      finished.signal()
    }
  }

  /// Returns when the thread is gone. Traps if it has not ended at `deadline`: then it is stuck.
  ///
  /// - Parameter deadline: when the thread counts as stuck.
  public func join(deadline: DispatchTime = .now() + 2 * timeLimit) {
    guard joinReturnsEnded(deadline: deadline) else {
      fatalError("a thread did not end in time: it is stuck")
    }
  }

  /// Waits until the thread is gone, or until `deadline`.
  ///
  /// - Returns: whether it is gone.
  func joinReturnsEnded(deadline: DispatchTime) -> Bool {
    guard finished.wait(timeout: deadline) == .success else { return false }
    finished.signal()  // For others that join.
    isJoined.withLock { isJoined in
      if !isJoined { thread.join() }
      isJoined = true
    }
    return true
  }
}

/// Runs `body` on `count` threads at once, with the index of each, and returns when they are gone.
///
/// Traps if they have not ended after `seconds`: then they are stuck.
///
/// - Parameters:
///   - count: the number of threads.
///   - seconds: how long they may take.
///   - activities: what each thread reports; the trap prints the last step of each.
///   - body: what each thread does, given its index.
/// - Precondition: `count` is not negative.
public func runThreads(
  _ count: Int, seconds: Double = 2 * timeLimit, activities: [WorkerActivity] = [],
  _ body: @escaping @Sendable (Int) -> Void
) {
  require(count >= 0, "\(count) threads cannot run: use a number of at least 0")
  let threads = (0..<count).map { index in RunningThread { body(index) } }
  let deadline = DispatchTime.now() + seconds
  for thread in threads {
    guard thread.joinReturnsEnded(deadline: deadline) else {
      let steps = activities.prefix(count).enumerated().map { "\n  thread \($0): \($1)" }
      fatalError("threads have not ended within \(seconds) s: they are stuck\(steps.joined())")
    }
  }
}

/// Runs `first` and `second` at once, each on its own thread, and returns when both are gone.
///
/// - Parameters:
///   - first: what one thread does.
///   - second: what the other thread does.
public func runConcurrently(
  _ first: @escaping @Sendable () -> Void, and second: @escaping @Sendable () -> Void
) {
  runThreads(2) { $0 == 0 ? first() : second() }
}

/// Yields to other threads until `condition` holds. Traps if that takes too long.
///
/// - Parameter condition: called repeatedly.
public func yield(until condition: () -> Bool) {
  let deadline = ContinuousClock.now.advanced(by: .seconds(timeLimit))
  while !condition() {
    require(.now < deadline, "a condition did not come true within \(timeLimit) s")
    sched_yield()
  }
}
