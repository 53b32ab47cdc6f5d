/// A concurrent invocation that the current task may be a child of.
///
/// ``InvocationScope`` covers all structured children of callbacks, but only in serialized hubs.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
final class TaskAncestry: Sendable {
  /// The innermost concurrent invocation around the current task.
  ///
  /// Unstructured tasks of a callback inherit it too, though no invocation waits for them: `calls`
  /// tells which task is a child.
  // Not `@TaskLocal`: inlinable code cannot use its projection.
  @usableFromInline static let current = TaskLocal<TaskAncestry?>(wrappedValue: nil)

  /// The task that waits for the children.
  @usableFromInline let parent: TaskIdentity
  /// The calls of its hub, including those of its children.
  let calls: TaskCalls
  /// The concurrent invocation that waits for `parent`.
  let outer: TaskAncestry?

  /// A concurrent invocation by the current task, in the hub that has `calls`.
  ///
  /// Unstructured tasks of callbacks keep it, perhaps for long: it owns no delegate, and no outer
  /// invocation that does not wait for it.
  @usableFromInline
  init(calls: TaskCalls) {
    let parent = TaskIdentity.current
    self.parent = parent
    self.calls = calls
    let enclosing = TaskAncestry.current.get()
    let isNested = enclosing.map { $0.calls.isChild(parent, of: $0.parent) } ?? false
    outer = isNested ? enclosing : nil
  }
}

extension TaskIdentity {
  /// Whether `condition` holds for the current task, or for one that waits for it in a concurrent
  /// invocation of which the current task is a child, perhaps through other invocations.
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
