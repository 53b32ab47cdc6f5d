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

  @usableFromInline
  func enqueue(_ event: Envelope, for entry: Entry) {
    let isOurs = lock.withLock {
      inbox.append(event)
      return role.take()
    }
    guard isOurs else { return }
    while let next = takeNext() { place(next, for: entry) }
  }

  private func takeNext() -> Envelope? {
    lock.withLock {
      role.keep(if: !inbox.isEmpty) ? inbox.popFirst() : nil
    }
  }

  private func place(_ event: Envelope, for entry: Entry) {
    let old = positions.find(event.event(Event.self))
    let (position, effects, front) = mailbox.lock.withLock {
      let (position, effects) = mailbox.state.replace(old, with: event)
      return (position, effects, mailbox.state.front)
    }
    mailbox.perform(effects, for: entry)
    guard position != old else { return }
    let keys = positions.note(position)
    // Keys of events that have left are forgotten now and then.
    if keys > 2 * max(position - front + 1, 16) { positions.forget(front) }
  }
}
