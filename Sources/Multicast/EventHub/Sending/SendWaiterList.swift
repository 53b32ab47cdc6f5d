/// The full buffers for which one suspended sender waits.
///
/// ## Thread safety
/// The thread that delivers the event fills the list and then calls ``completeDelivery(isTaken:)``;
/// the sender's task calls ``wait(isKept:)``.
@usableFromInline
final class SendWaiterList: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.
  /// Guards everything that changes. Never held together with the lock of a mailbox.
  private let lock = Lock()
  /// Reaches zero when the event was delivered.
  private let delivery = FlushLatch(1)
  private var parked: [(waiter: SendWaiter, mailbox: Mailbox, entry: Entry)] = []
  /// The lists of the hubs to which the event was forwarded.
  private var included: [SendWaiterList] = []
  /// See ``Outcome/isTaken``.
  private var isTaken = false
  /// Whether a mailbox refused the event, because the hub had finished.
  private var isRefused = false

  /// Appends `event` to the mailbox, or adds the mailbox to those for which the sender waits.
  ///
  /// - Returns: `false` if the mailbox refused the event, because the hub has finished.
  @usableFromInline
  func append(_ event: Envelope, to mailbox: Mailbox, for entry: Entry) -> Bool {
    let waiter = SendWaiter()
    let effects = mailbox.withLock { mailbox.state.append(event, sender: waiter) }
    mailbox.perform(effects, for: entry)
    if effects.isParked { lock.withLock { parked.append((waiter, mailbox, entry)) } }
    return record(effects)
  }

  /// Records whether a mailbox refused the event.
  ///
  /// - Returns: as ``append(_:to:for:)``.
  func record(_ effects: MailboxState.Effects) -> Bool {
    if effects.isRefused { lock.withLock { isRefused = true } }
    return !effects.isRefused
  }

  /// Makes ``wait(isKept:)`` wait for `list` too. Called before the delivery is complete.
  func include(_ list: SendWaiterList) {
    lock.withLock { included.append(list) }
  }

  /// Records that the event was delivered.
  ///
  /// - Parameter isTaken: see ``Outcome/isTaken``.
  func completeDelivery(isTaken: Bool) {
    lock.withLock { self.isTaken = isTaken }
    delivery.countDown()
  }

  struct Outcome {
    /// Whether a sequencer, a handler or a mailbox took the event. If none did and the hub has
    /// finished, the event is refused.
    var isTaken: Bool
    /// Whether neither the hub's end nor a cancellation kept the event from a subscriber.
    var isComplete: Bool
  }

  /// Waits until the event was delivered, and no buffer is full or the task is cancelled.
  ///
  /// - Parameter isKept: whether the hub has kept the event: then no subscriber refuses it.
  func wait(isKept: Bool = false) async -> Outcome {
    await suspend { continuation in
      delivery.wait { continuation.resume() }
    }
    var outcome = lock.withLock { Outcome(isTaken: isTaken, isComplete: isKept || !isRefused) }
    for (waiter, mailbox, entry) in lock.withLock({ parked }) {
      // SAFETY: any thread may use an entry (see `Entry`); the type cannot be declared `Sendable`.
      nonisolated(unsafe) let entry = entry
      await withTaskCancellationHandler {
        await suspend { continuation in
          let isReleased = mailbox.withLock {
            if waiter.isReleased { return true }
            waiter.continuation = continuation
            return false
          }
          if isReleased { continuation.resume() }
        }
      } onCancel: {
        let effects = mailbox.withLock { mailbox.state.cancel(waiter) }
        mailbox.perform(effects, for: entry)
      }
      if mailbox.withLock({ waiter.outcome == .dropped }) { outcome.isComplete = false }
    }
    for included in lock.withLock({ included }) {
      let forwarded = await included.wait(isKept: isKept)
      if (!isKept && !forwarded.isTaken) || !forwarded.isComplete { outcome.isComplete = false }
    }
    return outcome
  }
}
