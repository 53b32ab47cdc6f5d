/// A sender that waits for space in a mailbox.
///
/// ## Thread safety
/// The lock of the mailbox guards it, except ``resume()``: the thread that removed the waiter from
/// the mailbox state calls that once, after unlock. The continuation does not change afterwards.
final class SendWaiter: @unchecked Sendable {
  // Sendable: see "Thread safety".

  /// The suspended task; `nil` until the task suspends.
  var continuation: CheckedContinuation<Void, Never>?
  /// What happened to the element; `nil` while the waiter is in the mailbox.
  var outcome: Outcome?

  /// Why a sender no longer waits.
  enum Outcome {
    /// The mailbox accepted the element.
    case accepted
    /// The sender was cancelled, and the element dropped.
    case dropped
    /// The subscription has ended, and the element was discarded.
    case discarded
  }

  /// Whether the waiter has left the mailbox.
  var isReleased: Bool { outcome != nil }

  func resume() {
    continuation?.resume()
  }
}
