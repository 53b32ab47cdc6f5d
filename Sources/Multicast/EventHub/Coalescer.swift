/// Puts a new event in the place of the one with the same key that waits.
///
/// Comparing keys runs user code, so it cannot happen under a lock. One sender at a time plays the
/// role of the coalescer, and the table of keys is its own; a sender that comes meanwhile leaves
/// its event in the inbox, and goes.
///
/// ## Thread safety
/// ``enqueue(_:_:for:)`` may be called from any thread.
final class Coalescer<Event: Sendable>: @unchecked Sendable {
  // Sendable: `inbox` and `isBusy` are touched inside `lock` alone, `positions` by whoever has set
  // `isBusy`.
  private let key: @Sendable (Event) -> AnyHashable
  private let mailbox: Mailbox
  private let lock = Lock()
  private var inbox = RingBuffer<Parcel>()
  private var isBusy = false
  /// Where in the mailbox the newest event with each key is, or was.
  private var positions: [AnyHashable: Int] = [:]

  init(_ mailbox: Mailbox, by key: @escaping @Sendable (Event) -> AnyHashable) {
    self.mailbox = mailbox
    self.key = key
  }

  func enqueue(_ event: Parcel, for entry: Entry) {
    let isOurs = lock.withLock {
      inbox.append(event)
      defer { isBusy = true }
      return !isBusy
    }
    guard isOurs else { return }
    while let next = takeNext() { place(next, for: entry) }
  }

  private func takeNext() -> Parcel? {
    lock.withLock {
      let next = inbox.popFirst()
      if next == nil { isBusy = false }
      return next
    }
  }

  private func place(_ event: Parcel, for entry: Entry) {
    let key = key(event.event(Event.self))
    let old = positions[key]
    let (position, effects, front, waiting) = mailbox.lock.withLock {
      let (position, effects) = mailbox.backlog.replace(old, with: event)
      return (position, effects, mailbox.backlog.front, position - mailbox.backlog.front + 1)
    }
    positions[key] = position
    mailbox.perform(effects, for: entry)
    // Keys of events that have left are forgotten now and then.
    if positions.count > 2 * max(waiting, 16) { positions = positions.filter { $0.value >= front } }
  }
}
