/// A concurrent invocation that a task may be a child of.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
final class TaskAncestry: Sendable {
  /// The innermost concurrent invocation around the current task.
  ///
  /// Tasks that a callback starts inherit it too, though no invocation waits for them: only
  /// `calls` tells who is a child.
  // Spelled out: the projection that `@TaskLocal` makes cannot be used by inlinable code.
  @usableFromInline static let current = TaskLocal<TaskAncestry?>(wrappedValue: nil)

  /// The task that waits for the children.
  @usableFromInline let parent: TaskIdentity
  /// The calls of its hub, the children's among them.
  let calls: TaskCalls
  /// The concurrent invocation that waits for `parent`.
  let outer: TaskAncestry?

  /// The concurrent invocation that the current task begins, with its children in `calls`.
  ///
  /// Tasks that callbacks start keep it, perhaps for long: it holds no delegate, and no invocation
  /// around it that does not wait for it.
  @usableFromInline
  init(calls: TaskCalls) {
    let parent = TaskIdentity.current
    self.parent = parent
    self.calls = calls
    let around = TaskAncestry.current.get()
    let isNested = around.map { $0.calls.isChild(parent, of: $0.parent) } ?? false
    outer = isNested ? around : nil
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
