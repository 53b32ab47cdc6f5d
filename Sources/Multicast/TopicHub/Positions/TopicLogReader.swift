/// The place in the log of a hub of topics that one subscriber has reached, and what it has read.
///
/// `EventHub+Following` says what a signal and its goal are.
///
/// ## Thread safety
/// One thread at a time: the one that reads for the subscriber. ``stopReading()`` may be called
/// from any thread.
@usableFromInline
final class TopicLogReader: PositionReader, @unchecked Sendable {
  // Sendable: `cursor` is set when the subscription begins, before its consumer may run or stop.
  // For the rest see "Thread safety"; what hands the subscription from thread to thread hands this
  // over too.
  //
  // SAFETY, of unchecked exclusivity: for the same reason; and no event is destroyed, which may run
  // user code, while a property is accessed.

  /// What the reader returns.
  enum Element {
    case event(TopicItem)
    case missed(MissingEvents)
    case elsewhere(ExternalRange)
  }

  private let log: TopicLog
  private let topics: TopicLog.Topics
  /// The same for an external log.
  let externalTopics: ExternalTopics
  /// Makes the subscriber read.
  let signals: TopicSignals
  private let active: TopicSignalSet
  private let limit: TopicReadLimit
  @exclusivity(unchecked) private var cursor: TopicCursor! = nil
  /// What to report before the next event.
  // A slice, which gives its first one away at no cost: there may be one for each topic.
  @exclusivity(unchecked) private var missing: ArraySlice<MissingEvents> = []
  /// Events that were read and not yet returned.
  @exclusivity(unchecked) private var batch = RingBuffer<TopicItem>()
  /// The number of the newest event, or of the last one that the subscriber gets, at the last read.
  @exclusivity(unchecked) private var newest: UInt64 = 0
  /// The number of the newest event when the consumer began to handle the signal that it handles;
  /// `nil` if it has not begun, or handles none.
  @exclusivity(unchecked) private var goal: UInt64?

  /// - Parameters:
  ///   - active: gets the signals.
  ///   - target: what calls this reader.
  init(
    _ log: TopicLog, _ topics: TopicLog.Topics, _ externalTopics: ExternalTopics,
    _ active: TopicSignalSet, _ limit: TopicReadLimit, _ target: any ReadTarget
  ) {
    self.externalTopics = externalTopics
    signals = TopicSignals(target)
    self.limit = limit
    self.log = log
    self.topics = topics
    self.active = active
  }
}

extension TopicLogReader {
  /// Sets the place where the subscriber begins.
  ///
  /// - Parameter subscriptions: signal every later event.
  func begin<Event>(_ request: PositionedRequest<Event>, subscriptions: [EventSubscription]) {
    signals.begin(subscriptions)
    active.add(signals)
    // Last, so that there is a signal for what comes after this place.
    let (cursor, missing) = log.cursor(
      request.start, of: topics, limit, isContinued: request.isContinued,
      reader: ObjectIdentifier(signals),
      channels: subscriptions.map { $0.registration.registry.extras })
    self.cursor = cursor
    if let missing { self.missing.append(missing) }
    signals.setCursor(cursor, in: log)
    // They may have ended before the reader was in `active`.
    signals.endIfInactive()
  }

  func stopReading() {
    if let cursor { log.release(cursor) }
    active.remove(signals)
    signals.cancel()
  }

  /// The next event of those that were read, or what was missed before it.
  func nextRead() -> Element? {
    if let first = missing.first {
      guard first.mayBeElsewhere else { return .missed(missing.removeFirst()) }
      let all = missing
      missing = []
      // Every topic has its own range, and the pages have the events of all of them.
      let through = all.map(\.through).max()!
      // A topic of which nothing is missing may have events before the first range.
      let after = (all.map(\.after) + [cursor.positionBeforeMissing].compactMap { $0 }).min()!
      var reported: [String: UInt64] = [:]
      for (topic, number) in cursor.reported { if let topic { reported[topic] = number } }
      // Those are what is requested now.
      for range in all { if let topic = range.topic { reported[topic] = range.after.number } }
      return .elsewhere(
        ExternalRange(
          after: after, through: through, missing: all.filter { !$0.isReportedLater },
          reported: reported))
    }
    return batch.popFirst().map { .event($0) }
  }

  /// The next event, unless something is to be reported before it.
  @usableFromInline
  func nextEvent() -> TopicItem? {
    missing.isEmpty ? batch.popFirst() : nil
  }

  /// The epoch of the events that were read.
  @usableFromInline
  var epoch: UInt64 { cursor.epoch }

  /// Reads more events, after all were returned.
  ///
  /// - Returns: whether there is anything to return.
  func read(atMost limit: Int) -> Bool {
    guard missing.isEmpty else { return true }
    // What was read is not dropped any more, so it is not more than what may wait.
    let share = min(limit, self.limit.count)
    // Destroyed last, because the `deinit` of an event may use this reader.
    var garbage = RetainedLog.Garbage()
    defer { withExtendedLifetime(garbage) {} }
    let found = log.read(topics, cursor, atMost: share, into: &batch, &garbage)
    (missing, newest) = (found.missing[...], found.newest)
    // An external log may have begun anew, with lower numbers.
    if let goal, goal > newest { self.goal = newest }
    if !hasRead, isDisconnected { signals.target.end(.disconnected, nil) }
    return hasRead
  }

  func beginSignal(atMost limit: Int) {
    resetGoal()
    readToGoal(atMost: limit)
  }

  /// The consumer handles no signal any more.
  func resetGoal() { goal = nil }

  func readToGoal(atMost limit: Int) {
    let hasRead = hasRead
    if !hasRead { _ = read(atMost: limit) }
    if goal == nil { goal = hasRead ? log.newestNumber(for: cursor) : newest }
  }

  var hasRead: Bool { !missing.isEmpty || !batch.isEmpty }

  var readCount: Int { batch.count }

  var hasMissing: Bool { !missing.isEmpty }

  /// Whether the last read has found everything that there was.
  var isComplete: Bool { missing.isEmpty && cursor.number >= newest && !cursor.isTooSlow }

  /// Why the subscription ends: because too many events waited, also if the hub has finished before
  /// the last of them was read.
  ///
  /// - Parameter reason: what the target knows.
  func end(_ reason: SubscriptionEnd?) -> SubscriptionEnd? {
    reason == .finished && cursor.isTooSlow ? .disconnected : reason
  }

  /// Whether the subscriber was too slow, and has read everything that it still gets.
  private var isDisconnected: Bool { cursor.isTooSlow && cursor.hasPassedEnd }

  var isAtGoal: Bool {
    guard let goal else { return true }
    // After the last event, the next read ends the subscription.
    if isDisconnected { return !hasRead && signals.target.end != nil }
    return missing.isEmpty && (batch.isEmpty ? cursor.number : batch[0].number - 1) >= goal
  }

  /// Whether the consumer handles a signal, and every event up to its goal was returned.
  var hasReachedGoal: Bool { goal != nil && isAtGoal }

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

  /// The position of the subscriber.
  var position: EventPosition { cursor.position }

  /// Whether the log has begun, so that this is one of its positions.
  var hasBegun: Bool { cursor.beginning > 0 }

  /// Takes the answer of the external log about the position.
  func settleClaim(_ isThere: Bool?) {
    if let missing = log.settle(cursor, isThere: isThere) { self.missing.append(missing) }
  }

  /// Reads after `position` what the log of the hub has, because the external log does not have all
  /// that is missing there. What is missing was returned.
  func returnToLog(after position: EventPosition) { log.moveBack(cursor, after: position.number) }
}

extension EventConsumer {
  /// The next of the events that `reader` has read, unless the task or the subscription is
  /// cancelled.
  @usableFromInline
  func nextEvent(_ reader: TopicLogReader) -> TopicItem? {
    isCancelled ? nil : reader.nextEvent()
  }
}
