/// The entries that tasks are calling. (``ThreadCallStack`` tracks the calls of threads.)
///
/// A class and not a protocol, because a reference to it takes one word instead of two in each hub.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class CallTracking: @unchecked Sendable {
  // Sendable: without state; the subclass says why it is.

  init() {}

  /// Whether any task is calling `entry`.
  func isCalled(_ entry: UnsafeRawPointer) -> Bool { false }

  /// Whether the current task, or one that waits for it, is calling `entry`.
  func isCalledByCurrentTask(_ entry: UnsafeRawPointer) -> Bool { false }
}
