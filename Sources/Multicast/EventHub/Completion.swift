/// How a hub has finished: the first `finish` decides.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class Completion: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone. Nothing is destroyed inside,
  // since the error is set once.
  private let lock = Lock()
  private var isComplete = false
  private var error: (any Error)?

  /// The error with which the hub has finished, if any.
  var failure: (any Error)? { lock.withLock { error } }

  /// Completes, unless that has happened before.
  ///
  /// - Parameter publish: publishes the end, inside the lock: a second `finish` returns when it is
  ///   published. It runs no user code.
  /// - Returns: whether this call has completed.
  func complete(_ failure: (any Error)?, publish: () -> Void) -> Bool {
    lock.withLock {
      guard !isComplete else { return false }
      isComplete = true
      error = failure
      publish()
      return true
    }
  }
}
