/// Whose turn it is: the order of whole invocations in a serialized hub.
///
/// It belongs to the actor, so it needs no lock. A caller that waits is not told of its
/// cancellation: its turn comes all the same, and its delegates see that it is cancelled.
struct InvocationQueue {
  /// The task whose invocation is in progress, or `none`.
  private var holder = TaskIdentity.none
  private(set) var waiting = RingBuffer<Waiter>()

  struct Waiter {
    let task: TaskIdentity
    let continuation: CheckedContinuation<Void, Never>
  }
}

extension InvocationQueue {
  /// What an invocation does when it arrives.
  enum Arrival {
    /// It is its turn.
    case first
    /// It has to wait.
    case queued
    /// It belongs to the invocation in progress, which waits for it.
    case nested
  }

  /// - Parameter calls: those of the hub.
  mutating func arrive(_ calls: TaskCalls) -> Arrival {
    if holder == .none {
      holder = .current
      return .first
    }
    let isNested =
      InvocationScope.currentBelongs(to: calls)
      || TaskIdentity.anyWaitingForCurrent { $0 == holder }
    return isNested ? .nested : .queued
  }

  /// Waits behind the others.
  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
    waiting.append(Waiter(task: .current, continuation: continuation))
  }

  /// Hands the turn to the next.
  ///
  /// - Returns: what the caller has to resume.
  mutating func end() -> CheckedContinuation<Void, Never>? {
    let next = waiting.popFirst()
    holder = next?.task ?? .none
    return next?.continuation
  }
}
