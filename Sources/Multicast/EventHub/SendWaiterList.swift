/// The full buffers that one sender waits for.
///
/// ## Thread safety
/// Filled by the thread that delivers the event, which then calls ``delivered(isTaken:)``; the
/// sender's task waits for that too.
@usableFromInline
final class SendWaiterList: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.
  private let lock = Lock()
  private let latch = FlushLatch(1)
  private var parked: [(waiter: SendWaiter, mailbox: Mailbox, entry: Entry)] = []
  /// Whether a subscriber took the event, or dropped it by its policy, or had ended by itself.
  private var isTaken = false
  /// Whether a mailbox refused the event, because the hub had finished.
  private var isRefused = false

  /// Appends `event` to the mailbox, or has the sender wait for room there.
  ///
  /// - Returns: `false` if the mailbox refused it, because the hub has finished.
  @usableFromInline
  func append(_ event: Envelope, to mailbox: Mailbox, for entry: Entry) -> Bool {
    let waiter = SendWaiter()
    let effects = mailbox.lock.withLock { mailbox.state.append(event, sender: waiter) }
    mailbox.perform(effects, for: entry)
    if effects.isParked { lock.withLock { parked.append((waiter, mailbox, entry)) } }
    return note(effects)
  }

  /// Notes whether a mailbox refused the event.
  ///
  /// - Returns: as ``append(_:to:for:)``.
  func note(_ effects: MailboxState.Effects) -> Bool {
    if effects.isRefused { lock.withLock { isRefused = true } }
    return !effects.isRefused
  }

  /// The event was delivered.
  ///
  /// - Parameter isTaken: whether a subscriber took it, or would have but for its policy.
  func delivered(isTaken: Bool) {
    lock.withLock { self.isTaken = isTaken }
    latch.countDown()
  }

  /// What became of the event.
  struct Outcome {
    /// Whether a subscriber took it, or would have but for its policy.
    var isTaken: Bool
    /// Whether no subscriber lost it because the hub had finished, or the task was cancelled.
    var isComplete: Bool
  }

  /// Returns when the event was delivered and there was room everywhere, or the task is cancelled.
  func wait() async -> Outcome {
    await suspend { continuation in
      latch.wait { continuation.resume() }
    }
    var outcome = lock.withLock { Outcome(isTaken: isTaken, isComplete: !isRefused) }
    for (waiter, mailbox, entry) in lock.withLock({ parked }) {
      // SAFETY: an entry may be used by many threads, see there; it just cannot be declared so.
      nonisolated(unsafe) let entry = entry
      await withTaskCancellationHandler {
        await suspend { continuation in
          let isDone = mailbox.lock.withLock {
            if waiter.isReleased { return true }
            waiter.continuation = continuation
            return false
          }
          if isDone { continuation.resume() }
        }
      } onCancel: {
        let effects = mailbox.lock.withLock { mailbox.state.cancel(waiter) }
        mailbox.perform(effects, for: entry)
      }
      if mailbox.lock.withLock({ waiter.outcome == .dropped }) { outcome.isComplete = false }
    }
    return outcome
  }
}

extension SendWaiterList {
  /// Lets other tasks run if this has been called 64 times on this thread since a task did: for each
  /// event that is sent, and for the first result of each iterator.
  ///
  /// A task that never suspends stays on its thread, so it is enough to count there.
  static func yieldAfterMany() async {
    guard isYieldDue() else { return }
    await Task.yield()
  }

  private static func isYieldDue() -> Bool {
    let thread = ThreadCallStack.current
    thread.pointee.unsuspendedCalls += 1
    guard thread.pointee.unsuspendedCalls > 64 else { return false }
    thread.pointee.unsuspendedCalls = 1
    return true
  }
}
