/// The full buffers that one sender waits for.
///
/// ## Thread safety
/// Filled by whoever delivers the event, who then calls ``delivered()``; the sender's task waits
/// for that too.
@usableFromInline
final class SendWaiterList: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.
  private let lock = Lock()
  private let latch = FlushLatch(1)
  private var parked: [(waiter: SendWaiter, mailbox: Mailbox, entry: Entry)] = []

  /// Appends `event` to the mailbox, or has the sender wait for room there.
  @usableFromInline
  func append(_ event: Parcel, to mailbox: Mailbox, for entry: Entry) {
    let waiter = SendWaiter()
    let effects = mailbox.lock.withLock { mailbox.backlog.append(event, sender: waiter) }
    mailbox.perform(effects, for: entry)
    if effects.isParked { lock.withLock { parked.append((waiter, mailbox, entry)) } }
  }

  /// The event was delivered.
  func delivered() {
    latch.countDown()
  }

  /// Returns when the event was delivered and there was room everywhere, or the task is cancelled.
  func wait() async {
    await withCheckedContinuation { continuation in
      latch.wait { continuation.resume() }
    }
    for (waiter, mailbox, entry) in lock.withLock({ parked }) {
      // SAFETY: an entry may be used by many threads, see there; it just cannot be declared so.
      nonisolated(unsafe) let entry = entry
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isDone = mailbox.lock.withLock {
            if waiter.isReleased { return true }
            waiter.continuation = continuation
            return false
          }
          if isDone { continuation.resume() }
        }
      } onCancel: {
        let effects = mailbox.lock.withLock { mailbox.backlog.cancel(waiter) }
        mailbox.perform(effects, for: entry)
      }
    }
  }
}
