/// The place in the log of a hub of topics that one subscriber has reached, and what it has read.
///
/// ## Thread safety
/// One thread at a time: the consumer of the subscriber's mailbox. ``stopReading()`` may be called
/// from any thread.
final class TopicLogReader<Event: Sendable>: PositionReader, @unchecked Sendable {
  // Sendable: `cursor` is set before another thread has the reader. For the rest see "Thread safety"; what hands the mailbox from thread to thread hands this over too.

  /// What the reader returns.
  enum Element {
    case element(PositionedTopicEvent<Event>)
    /// Events that are to be requested from the external log, and the same for each topic.
    case elsewhere(MissingEvents, [MissingEvents])
  }

  private let log: TopicLog<Event>
  private let topics: TopicLog<Event>.Topics
  /// Makes the consumer read.
  let signals = TopicSignals()
  private let readers: TopicReaders
  private let limit: TopicReadLimit
  private var cursor: TopicCursor! = nil
  /// What to report before the next event.
  private var missing: [MissingEvents] = []
  /// Events that were read and not yet returned.
  private var batch = RingBuffer<TopicItem>()
  /// The number of the newest event at the last read.
  private var newest: UInt64 = 0
  /// The number of the newest event when the consumer began to handle the signal that it handles;
  /// `nil` if it has not begun, or handles none.
  private var goal: UInt64?

  /// - Parameter readers: gets the signals.
  init(
    _ log: TopicLog<Event>, _ topics: TopicLog<Event>.Topics, _ readers: TopicReaders,
    _ limit: TopicReadLimit
  ) {
    self.limit = limit
    self.log = log
    self.topics = topics
    self.readers = readers
  }
}

extension TopicLogReader {
  /// Sets the place where the subscriber begins.
  ///
  /// - Parameter subscriptions: signal every later event.
  func begin(_ start: SubscriptionStart, subscriptions: [EventSubscription]) {
    signals.begin(subscriptions)
    readers.add(signals)
    // Last, so that there is a signal for what comes after this place.
    let (cursor, missing) = log.cursor(start, of: topics, limit)
    self.cursor = cursor
    if let missing { self.missing.append(missing) }
  }

  func stopReading() {
    log.release(cursor)
    readers.remove(signals)
    signals.cancel()
  }

  /// The next event of those that were read, or what was missed before it.
  func nextRead() -> Element? {
    if let first = missing.first {
      guard first.mayBeElsewhere else { return .element(Self.missed(missing.removeFirst())) }
      let all = missing
      missing = []
      // Every topic has its own range, and the pages have the events of all of them.
      let through = all.map(\.through).max()!
      let after = all.map(\.after).min()!
      return .elsewhere(MissingEvents(topic: nil, after: after, through: through), all)
    }
    guard let item = batch.popFirst() else { return nil }
    let event = TopicEvent(topic: item.topic, event: item.envelope.event(Event.self))
    let position = EventPosition(epoch: cursor.epoch, number: item.number)
    return .element(.event(event, at: position))
  }

  static func missed(_ missing: MissingEvents) -> PositionedTopicEvent<Event> {
    .missed(
      MissedEvents(after: missing.after, through: missing.through, count: missing.count),
      of: missing.topic)
  }

  /// Reads more events, after all were returned.
  ///
  /// - Returns: whether there is anything to return.
  func read(atMost limit: Int) -> Bool {
    guard missing.isEmpty else { return true }
    // What was read is not dropped any more, so it is not more than what may wait.
    let share = min(limit, self.limit.count)
    (missing, newest) = log.read(topics, cursor, atMost: share, into: &batch)
    if !hasRead, isDisconnected { signals.mailbox.end(.disconnected) }
    return hasRead
  }

  func beginSignal(atMost limit: Int) {
    goal = nil
    readToGoal(atMost: limit)
  }

  func readToGoal(atMost limit: Int) {
    let hasRead = hasRead
    if !hasRead { _ = read(atMost: limit) }
    if goal == nil { goal = hasRead ? log.newest.number : newest }
  }

  var hasRead: Bool { !missing.isEmpty || !batch.isEmpty }

  var readCount: Int { batch.count }

  /// Whether the subscriber was too slow, and has read everything that it still gets.
  private var isDisconnected: Bool { cursor.rest == 0 }

  var isAtGoal: Bool {
    guard let goal else { return true }
    if isDisconnected && !hasRead && signals.mailbox.end != nil { return true }
    return missing.isEmpty && (batch.isEmpty ? cursor.number : batch[0].number - 1) >= goal
  }

  func discardRead() {
    // Destroys events, whose `deinit` may do anything, so they are no longer in `batch` then.
    var discarded = RingBuffer<TopicItem>()
    swap(&discarded, &batch)
    missing = []
  }
}

// MARK: - The external log

extension TopicLogReader {
  /// Whether the external log has to say whether there is the event of the subscriber's position.
  var hasClaim: Bool { cursor.claim != nil }

  /// Asks the external log about the position.
  func settleClaim() async {
    guard let external = log.external else { return }
    let isThere = await external.contains(cursor.position)
    if let missing = log.settle(cursor, isThere: isThere) { self.missing.append(missing) }
  }

  /// Requests the events between two numbers.
  func page(after position: EventPosition, through last: UInt64) async -> ExternalPage<Event>? {
    guard let external = log.external, case .names(let names) = topics else { return nil }
    return await external.page(of: names, after: position, through: last)
  }
}
