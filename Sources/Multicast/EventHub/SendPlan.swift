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

  /// Decides about one subscriber.
  ///
  /// - Parameter others: the number of events that were sent before and may not be in its buffer
  ///   yet.
  /// - Returns: `false` if its buffer is full.
  func add<Event: Sendable>(
    _ entry: Unmanaged<Entry>, _ pipeline: EventPipeline<Event>?, _ event: Event, beside others: Int
  ) -> Bool {
    // The event reaches a subscriber that is just subscribing live or with its replay: not yet known.
    if let start = pipeline?.start, start.first == .max { return true }
    // SAFETY: the invocation of the caller holds the entry.
    let entry = entry.takeUnretainedValue()
    var decision = Decision.wanted
    if let filter = pipeline?.filter, !filter(event) {
      decision = .unwanted
    } else if let mailbox = pipeline?.mailbox, pipeline?.coalescer == nil {
      switch mailbox.withLock({ mailbox.state.reserve(beside: others) }) {
      case .reserved: decision = .reserved
      case .unneeded: break
      case .full: return false
      }
    }
    decisions[entry.identity] = (entry, decision)
    return true
  }

  /// The decision about an entry, returned once; `nil` if there is none.
  func take(_ entry: Unmanaged<Entry>) -> Decision? {
    decisions.removeValue(forKey: UnsafeRawPointer(entry.toOpaque()))?.decision
  }

  /// Gives back the space that was not used.
  func release() {
    let rest = decisions
    decisions = [:]
    for (entry, decision) in rest.values where decision == .reserved {
      guard let mailbox = entry.mailbox else { continue }
      mailbox.perform(mailbox.withLock { mailbox.state.release() }, for: entry)
    }
  }
}
