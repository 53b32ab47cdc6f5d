/// The place in the log of a hub that one subscriber has reached.
///
/// ## Thread safety
/// One thread at a time: the consumer of the subscriber's mailbox.
final class LogReader<Event: Sendable>: LogCursor, PositionReader, @unchecked Sendable {
  // Sendable: see "Thread safety"; what hands the mailbox from thread to thread hands this over
  // too.

  private let log: EventSequencer<Event>
  let filter: (@Sendable (Event) -> Bool)?
  /// The number of the newest event at the last read.
  private(set) var newest: UInt64 = 0
  /// The number of the newest event when the consumer began to handle the signal that it handles;
  /// `nil` if it has not begun, or handles none.
  var goal: UInt64?

  init(_ log: EventSequencer<Event>, filter: (@Sendable (Event) -> Bool)?) {
    self.log = log
    self.filter = filter
    super.init(epoch: log.rules.epoch)
  }

  /// Sets the place where the subscriber begins. Its entry is in the registry already, so it
  /// receives a signal for every later event.
  ///
  /// - Returns: whether the hub has ended.
  @discardableResult
  func begin(_ start: SubscriptionStart) -> Bool {
    let (number, missed, newest, isEnded) = log.begin(start)
    self.number = number
    self.missed = missed
    self.newest = newest
    return isEnded
  }

  /// The next event that the filter accepts, or what was missed before it; `nil` if there is none
  /// yet.
  func next() -> PositionedEvent<Event>? {
    while true {
      if let event = nextRead() { return event }
      guard read() else { return nil }
    }
  }

  /// The next event of those that were read.
  @inline(__always)
  func nextRead() -> PositionedEvent<Event>? {
    switch nextElement() {
    case .event(let item): .event(item.envelope.event(Event.self), at: position(item.number))
    case .missed(let range): .missed(range)
    case nil: nil
    }
  }

  /// As ``nextRead()``, without the type of the event, which a caller would look up.
  func nextElement() -> LogElement? {
    if let missed {
      self.missed = nil
      return .missed(missed)
    }
    while let item = batch.popFirst() {
      if filter?(item.envelope.event(Event.self)) ?? true { return .event(item) }
    }
    return nil
  }

  /// Reads more events, after all were returned.
  ///
  /// - Returns: whether there is anything to return.
  func read(atMost limit: Int = LogCursor.share) -> Bool {
    guard missed == nil else { return true }
    let before = number
    // Destroyed at the end, because the `deinit` of an event may do anything: not while `batch` is
    // accessed.
    var garbage = RetainedLog.Garbage()
    defer { withExtendedLifetime(garbage) {} }
    let (first, last, newest) = log.read(after: before, atMost: limit, into: &batch, &garbage)
    self.newest = newest
    if first > before {
      missed = MissedEvents(after: position(before), through: position(first))
    }
    number = last
    return missed != nil || !batch.isEmpty
  }

  /// Begins to handle a signal, and reads unless something was read.
  func beginSignal(atMost limit: Int) {
    goal = nil
    readToGoal(atMost: limit)
  }

  /// Begins to handle a signal unless that was done, and reads unless something was read.
  func readToGoal(atMost limit: Int) {
    let hasRead = hasRead
    if !hasRead { _ = read(atMost: limit) }
    if goal == nil { goal = hasRead ? log.newestNumber : newest }
  }

  /// Whether every event up to the goal was returned, or there is no goal.
  var isAtGoal: Bool {
    guard let goal else { return true }
    return missed == nil && (batch.isEmpty ? number : batch[0].number - 1) >= goal
  }
}
