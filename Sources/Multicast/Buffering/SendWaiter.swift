/// A sender that waits for room in a mailbox.
///
/// ## Thread safety
/// Guarded by the lock of the mailbox, but for ``resume()``: that is called once, outside of the
/// lock, by the thread that has taken the waiter out of the backlog; the continuation does not
/// change afterwards.
final class SendWaiter: @unchecked Sendable {
  // Sendable: see "Thread safety".
  /// The task that sleeps; there is none yet if it has just parked.
  var continuation: CheckedContinuation<Void, Never>?
  /// What became of the element, when the waiter has left the buffer.
  var outcome: Outcome?

  /// Why a sender waits no longer.
  enum Outcome {
    /// The element waits for the consumer.
    case accepted
    /// The sender was cancelled, and the element dropped.
    case dropped
    /// The subscription has ended, and the element was discarded.
    case discarded
  }

  /// Whether the waiter has left the buffer.
  var isReleased: Bool { outcome != nil }

  func resume() {
    continuation?.resume()
  }
}
