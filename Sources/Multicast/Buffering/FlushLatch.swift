/// Counts down from the number of those that somebody waits for, as for mailboxes in a flush, and
/// then tells whoever waits.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class FlushLatch: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.
  private let lock = Lock()
  private var remaining: Int
  private var action: (@Sendable () -> Void)?

  /// - Parameter count: how many have to count down, besides those that are added.
  init(_ count: Int = 0) {
    remaining = count + 1
  }

  /// One more mailbox has to be waited for.
  func add() {
    lock.withLock { remaining += 1 }
  }

  /// A mailbox is done. The last one runs the action that ``wait(_:)`` was given.
  func countDown() {
    let action = lock.withLock {
      remaining -= 1
      return remaining == 0 ? self.action : nil
    }
    action?()
  }

  /// Ends the registration of mailboxes: `action` runs once when the last one is done, perhaps now.
  func wait(_ action: @escaping @Sendable () -> Void) {
    lock.withLock { self.action = action }
    countDown()
  }
}
