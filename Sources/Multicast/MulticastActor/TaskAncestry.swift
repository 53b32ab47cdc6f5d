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
  /// The calls of its hub, the children's among them.
  let calls: TaskCalls
  /// The concurrent invocation around it.
  let outer: TaskAncestry?

  /// The concurrent invocation that `parent` begins, with its children in `calls`.
  init(parent: TaskIdentity, calls: TaskCalls) {
    self.parent = parent
    self.calls = calls
    outer = TaskAncestry.current.get()
  }
}
