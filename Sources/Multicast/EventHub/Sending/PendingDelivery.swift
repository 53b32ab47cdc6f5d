// What a sequencer keeps. None of it is generic: the types of generic ones would be found by name
// for each event.

/// What the thread that delivers does next.
enum PendingDelivery {
  case event(SentEvent, CarriedValues?, waiters: SendWaiterList?)
  /// An event about whose subscribers a plan has decided.
  case planned(SentEvent, CarriedValues?, SendPlan)
  /// The first event of a handler without a buffer.
  case opening(Entry)
  /// Flushes that are complete.
  case flushed([FlushLatch])
  /// The end of the hub.
  case end

  /// Whether this is an event for which no space is reserved.
  var needsSpace: Bool {
    switch self {
    case .event: true
    case .planned(_, _, let plan): !plan.hasReservations
    case .opening, .flushed, .end: false
    }
  }
}

/// An event that was sent, and its number.
struct SentEvent {
  /// The log has the same one, if the hub retains, and so have the mailboxes.
  let envelope: Envelope
  let number: UInt64
}

/// An event that is in the log, and pending unless its sender delivers it.
struct AddedEvent {
  let sent: SentEvent
  /// Whether the sender has the role now, and delivers its event.
  let isOurs: Bool
  /// Whether more than the limit is pending.
  let isMany: Bool
  /// What has left the log, to be destroyed outside the lock.
  let garbage: RetainedLog.Garbage
}
