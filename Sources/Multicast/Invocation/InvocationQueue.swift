/// The order of whole invocations in a serialized hub.
///
/// It belongs to the actor, so it needs no lock. Cancelling a task that waits does not end its
/// wait: its invocation runs, and the delegates see the cancellation.
struct InvocationQueue: ~Copyable {
  /// The task whose invocation is running, or `none`.
  private var holder = TaskIdentity.none
  private(set) var waiting = RingBuffer<Waiter>()

  struct Waiter {
    let task: TaskIdentity
    /// `nil` if the task has not suspended: one that prefers a task executor may leave the actor
    /// between its arrival and its suspension.
    var continuation: CheckedContinuation<Void, Never>?
  }
}

extension InvocationQueue {
  /// How a new invocation begins.
  enum Arrival {
    /// It runs now.
    case first
    /// It is in the queue, and has to wait.
    case queued
    /// It runs now, as a part of the running invocation, which waits for it.
    case nested
  }

  /// Begins an invocation of the current task.
  ///
  /// - Parameter calls: the calls of the hub.
  mutating func arrive(_ calls: TaskCalls) -> Arrival {
    if holder == .none {
      holder = .current
      return .first
    }
    let isNested =
      InvocationScope.currentBelongs(to: calls)
      || TaskIdentity.anyWaitingForCurrent { $0 == holder }
    guard !isNested else { return .nested }
    waiting.append(Waiter(task: .current))
    return .queued
  }

  /// Suspends the current task, which is in the queue.
  ///
  /// - Returns: `continuation`, if its turn has come already: the caller has to resume it.
  mutating func wait(
    _ continuation: CheckedContinuation<Void, Never>
  ) -> CheckedContinuation<Void, Never>? {
    guard holder != .current else { return continuation }
    // Nearly always the last one: it has just arrived.
    var index = waiting.count - 1
    while waiting[index].task != .current { index -= 1 }
    waiting[index].continuation = continuation
    return nil
  }

  /// Ends the running invocation; the next one in the queue runs.
  ///
  /// - Returns: the continuation of the next one, which the caller has to resume; `nil` if there is
  ///   no next one, or if it has not suspended.
  mutating func end() -> CheckedContinuation<Void, Never>? {
    let next = waiting.popFirst()
    holder = next?.task ?? .none
    return next?.continuation
  }
}
