internal import Synchronization

/// A backlog under a lock, and the way to its consumer.
///
/// A sender appends inside the lock. What follows from that (waking the consumer, resuming a
/// sender, destroying what was dropped) it does outside.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class Mailbox: @unchecked Sendable {
  // Sendable: `state` is touched inside `lock` alone. Subclasses say what makes theirs so.

  /// Held while `state` changes. No user code runs inside.
  final let lock = Lock()
  final var state: MailboxState
  /// Counts what is lost here for a whole hub.
  private let drops: DropCounter?

  /// How many threads are inside a callback of this mailbox and block there in a flush.
  // Sequentially consistent everywhere: see `Registry.flush(timeout:)`.
  private let blockedFlushes = Atomic<Int>(0)

  init(_ state: MailboxState, drops: DropCounter? = nil) {
    self.state = state
    self.drops = drops
  }

  /// An empty mailbox with the same consumer, limit and policy; `nil` where a registration cannot
  /// get another one.
  func renewed() -> Mailbox? { nil }

  /// Whether both deliver to the same place, and keep as many elements by the same policy.
  func hasTerms(of other: Mailbox) -> Bool { false }

  /// Wakes the consumer of `entry`.
  func wake(_ entry: Entry) {
    fatalError("Multicast: every mailbox implements this")
  }

  /// Does what an input of the backlog has left to do.
  final func perform(_ effects: MailboxState.Effects, for entry: Entry) {
    if effects.wake { wake(entry) }
    finish(effects)
  }

  /// As ``perform(_:for:)``, without waking.
  final func finish(_ effects: MailboxState.Effects) {
    if effects.dropped > 0 { drops?.add(effects.dropped) }
    for sender in effects.released { sender.resume() }
    for latch in effects.flushed { latch.countDown() }
  }

  /// Adds `envelope` for `entry`, whose mailbox this is.
  ///
  /// - Parameter entry: held by the caller.
  /// - Returns: whether it waits for its turn; otherwise it was lost.
  @usableFromInline @discardableResult
  final func enqueue(_ envelope: Envelope, for entry: Unmanaged<Entry>) -> Bool {
    switch lock.withLock({ state.offer(envelope) }) {
    case .accepted: return true
    case .acceptedByIdle:
      wake(entry.takeUnretainedValue())
      return true
    case .declined: return enqueueDeclined(envelope, for: entry.takeUnretainedValue())
    }
  }

  @inline(never)
  private final func enqueueDeclined(_ envelope: Envelope, for entry: Entry) -> Bool {
    let effects = lock.withLock { state.append(envelope) }
    perform(effects, for: entry)
    return effects.isAccepted  // What was dropped dies here, outside the lock.
  }

  /// Ends the mailbox; see ``MailboxState/close(_:)``.
  final func close(_ reason: SubscriptionEnd, for entry: Entry) {
    let (effects, discarded) = lock.withLock { state.close(reason) }
    perform(effects, for: entry)
    withExtendedLifetime(discarded) {}  // It dies here, outside the lock.
  }

  /// What became of the envelopes so far.
  var statistics: DeliveryStatistics {
    lock.withLock { state.statistics }
  }

  /// Why the mailbox accepts nothing more, or `nil` if it does.
  final var end: SubscriptionEnd? {
    lock.withLock { state.end }
  }

  /// See ``MailboxState/flush(_:)``.
  final func flush(_ latch: FlushLatch) -> Bool {
    lock.withLock { state.flush(latch) }
  }

  /// See ``MailboxState/withdraw(_:)``.
  final func withdraw(_ latch: FlushLatch) {
    lock.withLock { state.withdraw(latch) }
  }

  /// Whether a callback of this mailbox blocks its thread in a flush.
  final var isBlockedInFlush: Bool { blockedFlushes.load(ordering: .sequentiallyConsistent) > 0 }

  /// A thread inside a callback of this mailbox begins to flush, or ends.
  final func noteBlockedFlushes(_ difference: Int) {
    blockedFlushes.add(difference, ordering: .sequentiallyConsistent)
  }

  /// The registration of `entry`, whose mailbox this is, has ended: discards what waits, now and in
  /// future.
  func cancel(_ entry: Entry) {
    close(.cancelled, for: entry)
  }
}
