internal import Dispatch

/// Ends the wait of one task for the next event of a mailbox, after a time.
///
/// ## Thread safety
/// `hasExpired` is accessed inside the lock of the mailbox alone; all else, by the task that waits.
final class SleepTimer: @unchecked Sendable {
  // Sendable: see "Thread safety".

  /// Whether the time is over.
  var hasExpired: Bool
  /// Whether that has ended the wait.
  var hasEndedWait = false
  private let mailbox: StreamMailbox
  private let deadline: DispatchTime
  private let isImmediate: Bool
  private var source: (any DispatchSourceTimer)?

  /// - Parameter timeout: from now on. Zero: the wait ends at once.
  init(_ timeout: Duration, _ mailbox: StreamMailbox) {
    self.mailbox = mailbox
    deadline = .now() + DispatchTimeInterval(timeout)
    isImmediate = timeout == .zero
    hasExpired = isImmediate
  }

  /// Starts the timer, unless it is running.
  func start() {
    guard source == nil, !isImmediate else { return }
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.schedule(deadline: deadline)
    source.setEventHandler { [self] in mailbox.expire(self) }
    source.resume()
    self.source = source
  }

  /// Stops the timer, and frees it. It may still fire once.
  func cancel() {
    source?.cancel()
    source = nil
  }
}
