/// A sender that waits for room in a mailbox.
///
/// ## Thread safety
/// Guarded by the lock of the mailbox, but for ``resume()``: that is called once, outside of the
/// lock, by whoever has taken the waiter out of the backlog; nobody sets the continuation
/// afterwards.
final class SendWaiter: @unchecked Sendable {
  // Sendable: see "Thread safety".
  /// The task that sleeps; there is none yet if it has just parked.
  var continuation: CheckedContinuation<Void, Never>?
  /// Whether the waiter has left the backlog, because there was room, or none is needed any more.
  var isReleased = false

  func resume() {
    continuation?.resume()
  }
}
