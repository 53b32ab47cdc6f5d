// Delivery on a queue.
//
// If no block of the mailbox is on the queue, a sender that appends schedules one. The block takes
// what has piled up, delivers it, and leaves, or schedules itself again if there is more. So one
// delegate is called by one block at a time and in order, even on a concurrent queue; a burst costs
// one block and not one for each call; and after a fair share the queue gets to run something else.
// An invocation that finds many mailboxes idle leaves the scheduling to `DrainScheduler`.
//
// Ownership: an entry owns its mailbox, and the mailbox keeps the queue. A block on the queue holds
// the entry. Nobody holds the hub. When the entry is removed, its backlog is discarded at once.

internal import Dispatch

/// The mailbox of a registration that is called on a queue.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class QueueMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: nothing is added that changes.

  private let queue: DispatchQueue

  /// - Parameters:
  ///   - queue: where to deliver.
  ///   - limit: how many elements may wait.
  ///   - whenFull: what happens to those that are too many.
  ///   - isIdle: whether delivery may begin; otherwise it does with ``start(_:)``.
  ///   - drops: where to count them, besides here.
  ///   - whenExhausted: runs when nothing more will come and everything was delivered.
  ///   - deliver: hands an element to an entry. Called on the queue.
  init(
    on queue: DispatchQueue, limit: Int, whenFull: OverflowPolicy,
    isIdle: Bool = true, drops: DropCounter? = nil,
    whenExhausted: (@Sendable (Entry) -> Void)? = nil,
    deliver: @escaping @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) -> Void
  ) {
    self.queue = queue
    super.init(
      MailboxState(limit: limit, whenFull: whenFull, isIdle: isIdle, mayLinger: true),
      drops: drops, whenExhausted: whenExhausted, deliver: deliver)
  }

  override func renewed() -> Mailbox? {
    let (limit, whenFull) = lock.withLock { (state.limit, state.whenFull) }
    return QueueMailbox(
      on: queue, limit: limit, whenFull: whenFull, whenExhausted: whenExhausted, deliver: deliver)
  }

  override func hasTerms(of other: Mailbox) -> Bool {
    guard let other = other as? QueueMailbox else { return false }
    // Never two locks at once: the limit and the policy are read one after the other.
    let ours = lock.withLock { (state.limit, state.whenFull) }
    let theirs = other.lock.withLock { (other.state.limit, other.state.whenFull) }
    return queue === other.queue && ours == theirs
  }

  override func wake(_ entry: Entry) {
    let thread = ThreadCallStack.current
    thread.pointee.invocationTally += 1
    let begins = thread.pointee.invocationTally > DrainScheduler.perInvocation
    if !DrainScheduler.shared.take(self, entry, begins: begins) {
      schedule(.passRetained(entry))
    }
  }

  /// Puts a block on the queue, which takes over a retain of `entry`.
  ///
  /// It is not left to whoever schedules: the last release of an entry may run the `deinit` of a
  /// delegate, and that belongs on the queue of the delegate, not on the thread of `DrainScheduler`.
  func schedule(_ entry: Unmanaged<Entry>) {
    // SAFETY: an entry may be used by many threads, see there; it just cannot be declared so. The
    // block runs once, and the entry keeps its mailbox.
    nonisolated(unsafe) let entry = entry
    queue.async { [unowned(unsafe) self] in
      let entry = entry.takeRetainedValue()
      if drain(entry) { schedule(.passRetained(entry)) }
    }
  }
}
