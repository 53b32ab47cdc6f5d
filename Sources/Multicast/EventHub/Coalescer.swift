/// Replaces the waiting event that has the same key as a new one.
///
/// Comparing keys runs user code, so it must not happen under a lock. One sender at a time has the
/// role of the coalescer and with it sole access to the index of keys; a concurrent sender leaves
/// its event to that sender and returns.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class Coalescer<Event: Sendable>: @unchecked Sendable {
  // Sendable: `index` is accessed by the thread that has the role, all else that changes inside
  // `lock` alone.
  private let index: CoalescingIndex<Event>
  private let mailbox: Mailbox
  /// Guards the events, the role and the flushes. No user code runs inside.
  private let lock = Lock()
  private var pending = RingBuffer<Envelope>()
  private var role = ExclusiveRole()
  /// The number of events that were taken out of `pending`.
  private var taken = 0
  private var flushes = PositionedFlushes()

  init(_ mailbox: Mailbox, _ index: CoalescingIndex<Event>) {
    self.mailbox = mailbox
    self.index = index
  }

  /// - Parameter waiters: records, for a sender that can wait, if the hub has finished.
  /// - Returns: as `EventPipeline.deliver`. An event that is left to another sender counts.
  @usableFromInline
  func enqueue(_ event: Envelope, for entry: Entry, waiters: SendWaiterList?) -> Bool {
    let isOurs = lock.withLock {
      pending.append(event)
      return role.take()
    }
    guard isOurs else { return true }
    // The first one is `event`: nothing is pending while the role is free.
    var effects: MailboxState.Effects?
    while let next = nextPending() {
      let nextEffects = coalesce(next, for: entry)
      if effects == nil { effects = nextEffects }
    }
    guard let effects else { return true }
    return waiters?.record(effects) ?? effects.isAccepted
  }

  private func nextPending() -> Envelope? {
    while true {
      let (next, flushed) = lock.withLock { () -> (Envelope?, [FlushLatch]) in
        let flushed = flushes.isEmpty ? [] : flushes.takeCompleted(before: taken)
        guard flushed.isEmpty else { return (nil, flushed) }
        guard role.keep(if: !pending.isEmpty) else { return (nil, []) }
        taken &+= 1
        return (pending.popFirst(), [])
      }
      if flushed.isEmpty { return next }
      for latch in flushed { latch.countDown() }
    }
  }

  /// Begins a flush: `latch` is counted down when everything sent before is in the mailbox.
  func flush(_ latch: FlushLatch) {
    latch.add()
    let isPending = lock.withLock {
      guard role.isTaken else { return false }
      flushes.add(latch, at: taken + pending.count)
      return true
    }
    if !isPending { latch.countDown() }
  }

  /// Ends the flush of `latch`, which will not be counted down. The caller keeps it alive.
  func withdraw(_ latch: FlushLatch) {
    lock.withLock { flushes.withdraw(latch) }
  }

  private func coalesce(_ event: Envelope, for entry: Entry) -> MailboxState.Effects {
    let old = index.find(event.event(Event.self))
    let (position, effects, front) = mailbox.withLock {
      let (position, effects) = mailbox.state.replace(old, with: event)
      return (position, effects, mailbox.state.front)
    }
    mailbox.perform(effects, for: entry)
    guard position != old else { return effects }
    let keys = index.note(position)
    // Amortises the removal of keys whose events have left the mailbox.
    if keys > 2 * max(position - front + 1, 16) { index.forget(front) }
    return effects
  }
}
