public import Synchronization

/// Which task it is, as long as the task exists.
@usableFromInline
struct TaskIdentity: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  /// The address of the task, or zero.
  @usableFromInline let rawValue: UInt

  @usableFromInline
  init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// No task.
  @usableFromInline static var none: TaskIdentity { TaskIdentity(rawValue: 0) }

  /// The task that runs on this thread, or `none`.
  @usableFromInline static var current: TaskIdentity {
    // SAFETY: `UnsafeCurrentTask` is the reference to the task and nothing else; the address is
    // compared and never used.
    withUnsafeCurrentTask { task in
      TaskIdentity(rawValue: task.map { unsafeBitCast($0, to: UInt.self) } ?? 0)
    }
  }
}

extension TaskIdentity {
  /// Whether `condition` holds for the current task, or for one that waits for it because it
  /// invoked concurrently and the current task is, directly or not, its child.
  static func anyWaitingForCurrent(_ condition: (TaskIdentity) -> Bool) -> Bool {
    var task = current
    guard task != .none else { return false }
    if condition(task) { return true }
    var ancestry = TaskAncestry.current.get()
    while let invocation = ancestry {
      if invocation.calls.isChild(task, of: invocation.parent) {
        task = invocation.parent
        if condition(task) { return true }
      }
      ancestry = invocation.outer
    }
    return false
  }
}
