// Which invocations of serialized hubs the current task belongs to.
//
// A callback and its structured children (`async let`, task groups) belong to the invocation that
// called the callback: it cannot end before they do. Unstructured tasks that the callback starts do
// not. A task-local cannot distinguish them, since both inherit it. A task executor preference can:
// only structured children inherit it (SE-0417). So each invocation is a task executor, which its
// callbacks prefer, and which passes every job to the executor that would have run it otherwise.
//
//     invoke A ──▶ callback ──▶ async let ──▶ invoke B ──▶ callback ──▶ task group
//     scope A                   prefers A     scope B, outer: A         prefers B, so A too

internal import Synchronization

/// One invocation of a serialized hub, as the executor that its callbacks prefer.
///
/// The invocation keeps it; all tasks that prefer it end before the invocation does.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
final class InvocationScope: TaskExecutor, @unchecked Sendable {
  // Sendable: immutable; `call` points to atomics in memory that `calls` owns.

  /// The calls of the hub.
  private let calls: TaskCalls
  /// The call of the invocation, or of one child of a concurrent invocation; `nil` for its timer.
  private let call: TaskCall.Pointer?
  /// The innermost scope around the invocation.
  private let outer: InvocationScope?
  /// The executor that the task preferred before, other than a scope.
  private let preferred: any TaskExecutor

  /// The scope of an invocation by the current task.
  @usableFromInline
  init(_ calls: TaskCalls, _ call: TaskCall.Pointer?) {
    self.calls = calls
    self.call = call
    let current = Self.currentPreference
    outer = current as? InvocationScope
    preferred = outer?.preferred ?? current ?? globalConcurrentExecutor
  }
}

extension InvocationScope {
  @usableFromInline
  func enqueue(_ job: consuming ExecutorJob) {
    preferred.enqueue(job)
  }
}

extension InvocationScope {
  /// Whether the current task belongs to an invocation of the hub that has `calls`.
  static func currentBelongs(to calls: TaskCalls) -> Bool {
    currentScopes { $0.calls === calls }
  }

  /// Whether the current task belongs to a callback of `entry`, in the hub that has `calls`.
  static func currentBelongs(to calls: TaskCalls, calling entry: UnsafeRawPointer) -> Bool {
    currentScopes {
      // Relaxed: the task that stored it waits for this one.
      $0.calls === calls && $0.call?.pointee.entry.load(ordering: .relaxed) == entry
    }
  }

  private static func currentScopes(contain isMatch: (InvocationScope) -> Bool) -> Bool {
    var candidate = currentPreference as? InvocationScope
    while let scope = candidate {
      if isMatch(scope) { return true }
      candidate = scope.outer
    }
    return false
  }

  /// The task executor that the current task prefers.
  private static var currentPreference: (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.existential }
  }
}
