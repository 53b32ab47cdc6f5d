/// What a `trySend` has decided about each subscriber before it delivers: whether the subscriber's
/// filter accepts the event, and whether space is reserved in its mailbox.
///
/// ## Thread safety
/// One thread at a time: the sender, and then the thread that delivers.
final class SendPlan: @unchecked Sendable {
  // Sendable: see "Thread safety"; the sequencer's lock hands it over.

  enum Decision {
    case unwanted
    /// The handler is to be called, or the event appended to a mailbox that always accepts it.
    case wanted
    /// The event is to be appended to reserved space.
    case reserved
  }

  /// Whether the hub of a topic passes the event on.
  let isForwarded: Bool
  /// By the identity of the entry, which stays unique because the plan retains the entry.
  private var decisions: [UnsafeRawPointer: (entry: Entry, decision: Decision)] = [:]

  init(isForwarded: Bool = true) {
    self.isForwarded = isForwarded
  }

  /// Whether the plan has decided about a subscriber, so that the event has its space where it is
  /// wanted.
  var hasReservations: Bool { !decisions.isEmpty }

  /// Decides about one subscriber. Its filter is called once, also if space is reserved again.
  ///
  /// - Parameter others: the number of events that were sent before and may not be in its buffer
  ///   yet.
  /// - Returns: what its buffer answers; `unneeded` if it has none, or does not want the event.
  func add<Event: Sendable>(
    _ entry: Unmanaged<Entry>, _ pipeline: EventPipeline<Event>?, _ event: Event, beside others: Int
  ) -> MailboxState.Reservation {
    // The event reaches a subscriber that is just subscribing live or with its replay: not yet
    // known.
    if let start = pipeline?.start, start.first == .max { return .unneeded }
    // SAFETY: the invocation of the caller holds the entry.
    let entry = entry.takeUnretainedValue()
    let known = decisions[entry.identity]?.decision
    var decision = known ?? (pipeline?.filter?(event) == false ? .unwanted : .wanted)
    var reservation = MailboxState.Reservation.unneeded
    if decision == .wanted, let mailbox = pipeline?.mailbox, pipeline?.coalescer == nil {
      reservation = mailbox.withLock { mailbox.state.reserve(beside: others) }
      if reservation == .reserved { decision = .reserved }
    }
    decisions[entry.identity] = (entry, decision)
    return reservation
  }

  /// Decides that a subscriber does not receive the event, because its buffer was not asked. One
  /// that reads the log gets the event from there, and is to be told of it.
  func exclude(_ entry: Unmanaged<Entry>) {
    // SAFETY: the invocation of the caller holds the entry.
    let entry = entry.takeUnretainedValue()
    guard entry.mailbox?.isFollowing != true else { return }
    decisions[entry.identity] = (entry, .unwanted)
  }

  /// The decision about an entry, returned once; `nil` if there is none.
  func take(_ entry: Unmanaged<Entry>) -> Decision? {
    decisions.removeValue(forKey: UnsafeRawPointer(entry.toOpaque()))?.decision
  }

  /// Gives back the space that was not used, and forgets what was decided.
  func release() {
    let rest = decisions
    decisions = [:]
    release(rest.values)
  }

  /// Gives back the space, and keeps the answers of the filters.
  func releaseSpace() {
    let all = decisions
    decisions = all.mapValues { ($0.entry, $0.decision == .unwanted ? .unwanted : .wanted) }
    release(all.values)
  }

  private func release(_ decisions: some Sequence<(entry: Entry, decision: Decision)>) {
    for (entry, decision) in decisions where decision == .reserved {
      guard let mailbox = entry.mailbox else { continue }
      mailbox.perform(mailbox.withLock { mailbox.state.release() }, for: entry)
    }
  }
}
