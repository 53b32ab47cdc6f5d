/// Runs an action when everything it counts is done, for example the mailboxes of a flush.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class FlushLatch: @unchecked Sendable {
  // Sendable: `lock` guards all mutable state.

  /// Guards the count and the action. The action runs after unlock.
  private let lock = Lock()
  private var remaining: Int
  private var action: (@Sendable () -> Void)?

  /// - Parameter count: how many calls of ``countDown()`` to expect, besides those from ``add()``.
  init(_ count: Int = 0) {
    remaining = count + 1  // `wait` counts down the extra one.
  }

  /// Expects one more call of ``countDown()``.
  func add() {
    lock.withLock { remaining += 1 }
  }

  /// Counts down. The last call runs the action passed to ``wait(_:)``.
  func countDown() {
    let action = lock.withLock {
      remaining -= 1
      return remaining == 0 ? self.action : nil
    }
    action?()
  }

  /// Runs `action` once when the count reaches zero, possibly now. Call it once, after every `add`.
  func wait(_ action: @escaping @Sendable () -> Void) {
    lock.withLock { self.action = action }
    countDown()
  }
}
