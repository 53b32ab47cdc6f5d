/// A concurrent invocation that a task may be a child of.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
class TaskAncestry: @unchecked Sendable {
  // Sendable: immutable; the subclass says what makes it so.

  /// The innermost concurrent invocation around the current task.
  ///
  /// Tasks that a callback starts inherit it too, though no invocation waits for them: only
  /// `calls` tells who is a child.
  // Spelled out: the projection that `@TaskLocal` makes cannot be used by inlinable code.
  @usableFromInline static let current = TaskLocal<TaskAncestry?>(wrappedValue: nil)

  /// The task that waits for the children.
  @usableFromInline let parent: TaskIdentity
  fileprivate let calls: TaskCalls
  fileprivate let outer: TaskAncestry?

  /// The concurrent invocation that `parent` begins, with its children in `calls`.
  init(parent: TaskIdentity, calls: TaskCalls) {
    self.parent = parent
    self.calls = calls
    outer = TaskAncestry.current.get()
  }
}

extension TaskIdentity {
  /// Whether `condition` holds for the current task, or for one that waits for it because it invoked
  /// concurrently and the current task is, directly or not, its child.
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
