// Delivery on a queue.
//
// A sender that appends to an idle mailbox schedules a block on the queue. The block takes what
// waits, up to a share, delivers it, and schedules itself again if more waits. So each delegate is
// called by one block at a time and in order, even on a concurrent queue; a burst costs one block,
// not one for each call; and other blocks of the queue can run. An invocation that finds many
// mailboxes idle leaves the scheduling to `DrainScheduler`.
//
// Ownership: an entry owns its mailbox, and the mailbox the queue. A block on the queue owns the
// entry. None of them owns the hub.

internal import Dispatch

/// The mailbox of a registration that is called on a queue.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class QueueMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: adds only a constant.

  private let queue: DispatchQueue

  /// The other parameters are those of ``HandlerMailbox``.
  ///
  /// - Parameters:
  ///   - queue: the queue on which to call the delegate or the handler.
  ///   - limit: the number of elements that may wait.
  ///   - whenFull: the policy for further elements.
  ///   - isIdle: whether delivery may begin; otherwise it begins with ``start(_:)``.
  init(
    on queue: DispatchQueue, limit: Int, whenFull: OverflowPolicy,
    isIdle: Bool = true, drops: DropCounter? = nil,
    whenExhausted: (@Sendable (Entry) -> Void)? = nil
  ) {
    self.queue = queue
    super.init(
      MailboxState(limit: limit, whenFull: whenFull, isIdle: isIdle, mayLinger: true),
      drops: drops, whenExhausted: whenExhausted)
  }

  override var place: String { "queue \(queue.label)" }

  override func renewed() -> Mailbox? {
    let (limit, whenFull) = withLock { (state.limit, state.whenFull) }
    return QueueMailbox(
      on: queue, limit: limit, whenFull: whenFull, drops: drops, whenExhausted: whenExhausted)
  }

  override func hasTerms(of other: Mailbox) -> Bool {
    guard let other = other as? QueueMailbox, isSameQueue(other.queue) else { return false }
    return hasLimits(of: other)
  }

  private func isSameQueue(_ other: DispatchQueue) -> Bool {
    if queue === other { return true }
    // On Linux the main queue and the global queues are different objects each time.
    return queue.label == other.label
      && (queue.label == "com.apple.main-thread" || queue.label.hasPrefix("com.apple.root."))
  }

  override func requireInlineCall(of delegate: @autoclosure () -> Any.Type) {
    fatalError(
      """
      Multicast: \(delegate()) was added on the queue "\(queue.label)", but is called \
      directly. Use invoke, which calls it on its queue.
      """)
  }

  override func wake(_ entry: Entry) {
    let thread = ThreadCallStack.current
    thread.pointee.invocationTally += 1
    let isMany = thread.pointee.invocationTally > DrainScheduler.perInvocation
    if !DrainScheduler.shared.take(self, entry, mayStart: isMany) {
      schedule(.passRetained(entry))
    }
  }

  /// Puts a block on the queue, which consumes a retain of `entry`.
  ///
  /// The block releases the entry, because the last release may run the `deinit` of a delegate:
  /// that belongs on the delegate's queue, not on the thread of `DrainScheduler`.
  func schedule(_ entry: Unmanaged<Entry>) {
    // SAFETY: many threads may use an entry, though it cannot be declared Sendable: see `Entry`.
    // The block runs once, and the entry keeps its mailbox.
    nonisolated(unsafe) let entry = entry
    queue.async { [unowned(unsafe) self] in
      let entry = entry.takeRetainedValue()
      if drain(entry) { schedule(.passRetained(entry)) }
    }
  }
}
