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
  private var end = End.none
  /// The number of events that were taken out of `pending`.
  private var taken = 0
  private var flushes = PositionedFlushes()

  /// How far the end of the hub has come.
  private enum End {
    case none
    /// No sender may add an event. The thread with the role closes the mailbox after those that are
    /// pending.
    case pending
    case reached
  }

  /// What the thread with the role does next.
  private enum Step {
    case coalesce(Envelope)
    /// Flushes that are complete.
    case countDown([FlushLatch])
    case close
    /// Nothing is left, and the thread has given up the role.
    case leave
  }

  init(_ mailbox: Mailbox, _ index: CoalescingIndex<Event>) {
    self.mailbox = mailbox
    self.index = index
  }

  /// - Parameter waiters: records, for a sender that can wait, if the hub has finished.
  /// - Returns: as `EventPipeline.deliver`. An event that is left to another sender counts.
  @usableFromInline
  func enqueue(_ event: Envelope, for entry: Entry, waiters: SendWaiterList?) -> Bool {
    let (isOpen, isOurs) = lock.withLock {
      guard end == .none else { return (false, false) }
      pending.append(event)
      return (true, role.take())
    }
    guard isOpen else {
      var effects = MailboxState.Effects()
      effects.isRefused = true
      return waiters?.record(effects) ?? false
    }
    // The first one is `event`: nothing is pending while the role is free.
    guard isOurs, let effects = work(for: entry) else { return true }
    return waiters?.record(effects) ?? effects.isAccepted
  }

  /// Closes the mailbox because the hub has finished, after the events that are pending: their
  /// senders have returned, or are about to.
  func finish(_ entry: Entry) {
    let isOurs = lock.withLock {
      if end == .none { end = .pending }
      return role.take()
    }
    if isOurs { _ = work(for: entry) }
  }

  /// Does what is left to the thread with the role, and gives up the role.
  ///
  /// - Returns: the effects of the first event; `nil` if there was none.
  private func work(for entry: Entry) -> MailboxState.Effects? {
    var effects: MailboxState.Effects?
    while true {
      switch nextStep() {
      case .coalesce(let event):
        let next = coalesce(event, for: entry)
        if effects == nil { effects = next }
      case .countDown(let flushed): for latch in flushed { latch.countDown() }
      case .close: mailbox.close(.finished, for: entry)
      case .leave: return effects
      }
    }
  }

  private func nextStep() -> Step {
    lock.withLock {
      let flushed = flushes.isEmpty ? [] : flushes.takeCompleted(before: taken)
      guard flushed.isEmpty else { return .countDown(flushed) }
      if let event = pending.popFirst() {
        taken &+= 1
        return .coalesce(event)
      }
      if end == .pending {
        end = .reached
        return .close
      }
      _ = role.keep(if: false)
      return .leave
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
    let keys = index.record(position)
    // Amortises the removal of keys whose events have left the mailbox.
    if keys > 2 * max(position - front + 1, 16) { index.removeKeys(front) }
    return effects
  }
}
