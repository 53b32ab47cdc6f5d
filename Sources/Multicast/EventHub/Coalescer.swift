/// Puts a new event in the place of the one with the same key that waits.
///
/// Comparing keys runs user code, so it cannot happen under a lock. One sender at a time plays the
/// role of the coalescer, and the table of keys is its own; a sender that comes meanwhile leaves
/// its event in the inbox, and goes.
///
/// ## Thread safety
/// ``enqueue(_:for:)`` may be called from any thread.
@usableFromInline
final class Coalescer<Event: Sendable>: @unchecked Sendable {
  // Sendable: `inbox` and `role` are touched inside `lock` alone, `positions` by the thread that has the
  // role.
  private let positions: CoalescingIndex<Event>
  private let mailbox: Mailbox
  private let lock = Lock()
  private var inbox = RingBuffer<Envelope>()
  private var role = ExclusiveRole()

  init(_ mailbox: Mailbox, _ positions: CoalescingIndex<Event>) {
    self.mailbox = mailbox
    self.positions = positions
  }

  /// - Parameter sender: who can wait, and is told if the hub has finished.
  /// - Returns: as `EventPipeline.take`. What is left to another sender counts as taken.
  @usableFromInline
  func enqueue(_ event: Envelope, for entry: Entry, sender: SendWaiterList?) -> Bool {
    let isOurs = lock.withLock {
      inbox.append(event)
      return role.take()
    }
    guard isOurs else { return true }
    // The first one is `event`: the inbox was empty, because the role was free.
    var effects: MailboxState.Effects?
    while let next = takeNext() {
      let placed = place(next, for: entry)
      if effects == nil { effects = placed }
    }
    guard let effects else { return true }
    return sender?.note(effects) ?? effects.isAccepted
  }

  private func takeNext() -> Envelope? {
    lock.withLock {
      role.keep(if: !inbox.isEmpty) ? inbox.popFirst() : nil
    }
  }

  private func place(_ event: Envelope, for entry: Entry) -> MailboxState.Effects {
    let old = positions.find(event.event(Event.self))
    let (position, effects, front) = mailbox.lock.withLock {
      let (position, effects) = mailbox.state.replace(old, with: event)
      return (position, effects, mailbox.state.front)
    }
    mailbox.perform(effects, for: entry)
    guard position != old else { return effects }
    let keys = positions.note(position)
    // Keys of events that have left are forgotten now and then.
    if keys > 2 * max(position - front + 1, 16) { positions.forget(front) }
    return effects
  }
}
