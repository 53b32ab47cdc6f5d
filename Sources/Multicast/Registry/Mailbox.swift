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
  // Sendable: `backlog` is touched inside `lock` alone. Subclasses say what makes theirs so.

  /// Held while `backlog` changes. No user code runs inside.
  final let lock = Lock()
  final var backlog: Backlog
  /// Counts what is lost here for a whole hub.
  private let losses: LossCounter?

  /// How many threads are inside a callback of this mailbox and block there in a flush.
  // Sequentially consistent everywhere: see `Registry.flush(timeout:)`.
  private let blockedFlushes = Atomic<Int>(0)

  init(_ backlog: Backlog, losses: LossCounter? = nil) {
    self.backlog = backlog
    self.losses = losses
  }

  /// An empty mailbox with the same consumer, limit and policy; `nil` where a registration cannot
  /// get another one.
  func renewed() -> Mailbox? { nil }

  /// Whether both deliver to the same place, and keep as many elements by the same policy.
  func hasTerms(of other: Mailbox) -> Bool { false }

  /// Brings the consumer of `entry` to look at the backlog.
  func wake(_ entry: Entry) {
    fatalError("Multicast: every mailbox implements this")
  }

  /// Does what an input of the backlog has left to do.
  final func perform(_ effects: Backlog.Effects, for entry: Entry) {
    if effects.wake { wake(entry) }
    finish(effects)
  }

  /// As ``perform(_:for:)``, without waking.
  final func finish(_ effects: Backlog.Effects) {
    if effects.lost > 0 { losses?.add(effects.lost) }
    for sender in effects.released { sender.resume() }
    for latch in effects.flushed { latch.countDown() }
  }

  /// Adds `parcel` for `entry`, whose mailbox this is.
  ///
  /// - Parameter entry: held by the caller.
  /// - Returns: whether it waits for its turn; otherwise it was lost.
  @usableFromInline @discardableResult
  final func enqueue(_ parcel: Parcel, for entry: Unmanaged<Entry>) -> Bool {
    switch lock.withLock({ backlog.offer(parcel) }) {
    case .accepted: return true
    case .acceptedByIdle:
      wake(entry.takeUnretainedValue())
      return true
    case .declined: return enqueueDeclined(parcel, for: entry.takeUnretainedValue())
    }
  }

  @inline(never)
  private final func enqueueDeclined(_ parcel: Parcel, for entry: Entry) -> Bool {
    let effects = lock.withLock { backlog.append(parcel) }
    perform(effects, for: entry)
    return effects.isAccepted  // What was dropped dies here, outside the lock.
  }

  /// Ends the mailbox; see ``Backlog/close(_:)``.
  final func close(_ reason: SubscriptionEnd, for entry: Entry) {
    let (effects, discarded) = lock.withLock { backlog.close(reason) }
    perform(effects, for: entry)
    withExtendedLifetime(discarded) {}  // It dies here, outside the lock.
  }

  /// What became of the parcels so far.
  var statistics: DeliveryStatistics {
    lock.withLock { backlog.statistics }
  }

  /// Why the mailbox accepts nothing more, or `nil` if it does.
  final var end: SubscriptionEnd? {
    lock.withLock { backlog.end }
  }

  /// See ``Backlog/flush(_:)``.
  final func flush(_ latch: FlushLatch) -> Bool {
    lock.withLock { backlog.flush(latch) }
  }

  /// See ``Backlog/withdraw(_:)``.
  final func withdraw(_ latch: FlushLatch) {
    lock.withLock { backlog.withdraw(latch) }
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
