/// The place of one subscriber in a ``TopicLog``.
///
///     begins ──▶ is ahead of the log ──▶ reads ──▶ its topics have ended, or it is disconnected
///       │                                │   ▲
///       └────────────────────────▶   asks the external log for what is missing
///
/// The place is `number`. A subscriber that asks the external log is behind the missing range
/// already; if the log does not have it, the place may return to `beforeMissing`.
///
/// ## Thread safety
/// Changed inside the lock of the log alone: `readerIndexes`, `seen`, `dropped` and the ends by any
/// thread, the rest by one thread at a time, the one that reads for the subscriber, which may also
/// load that without the lock.
final class TopicCursor {
  /// The topics, if it reads by name.
  let topics: [KeptTopic]
  /// What reads, to find its counts.
  let reader: ObjectIdentifier
  /// The index of the cursor among the readers of each topic. Empty: it reads by patterns, or was
  /// released.
  var readerIndexes: [Int]
  let limit: TopicReadLimit

  // The place.

  /// The beginning of the log to which `epoch` and `number` belong. 0: the subscriber came before
  /// the log had begun.
  var beginning = 0
  var epoch: UInt64 = 0
  /// The number of the last event that was read, or that the subscriber has.
  var number: UInt64 = 0
  /// Whether there was a read: before it, the subscriber may miss events that came before its time.
  var hasRead = false

  // The start of the subscription.

  /// Whether the subscriber named a position, and did not begin with the newest event.
  var hasPosition = false
  /// The number of the newest event when the subscription began.
  var newestAtStart: UInt64 = 0
  /// How many events of each topic had come when the subscription began.
  var arrivedAtStart: [Int]
  /// The number of marks when the subscriber named a position that the log had not reached; `nil`
  /// once it is known whether there is such an event.
  var claim: Int?
  /// Whether no event has come after the place yet, which the log had not reached when the
  /// subscription began. What comes up to there is not for the subscriber.
  var isAhead = false

  // What is missing.

  /// By topic, the number up to which the missing events were reported.
  var reported: [String?: UInt64] = [:]
  /// ``TopicLog/removals`` when the subscriber began with what was retained: until there are more,
  /// it misses nothing of the topics that are not kept, as `reported` says.
  var removalsAtStart: Int?
  /// Where it was before it moved behind what is missing, because the external log may have that;
  /// `nil` if it has not moved, or has read since.
  var beforeMissing: Checkpoint?
  /// The end of the last range for which the external log was asked, and of which it did not have
  /// all.
  var absentThrough: UInt64 = 0
  /// The number up to which events of each topic had left the log when the subscription began, or
  /// when an external log had a part of them, if that is after its place; otherwise 0. Empty: they
  /// were reported.
  private var uncountedThrough: [UInt64] = []

  // Counts, of each topic.

  /// How many of the events were read or reported, counted as ``KeptTopic/arrived``.
  var seen: [Int]
  /// How many of `seen` were neither delivered nor count as dropped: those at the start of the
  /// subscription, and those that were skipped since.
  var skipped: [Int]
  /// How many events the subscriber has missed because it was slow; empty: none.
  var dropped: [Int] = []

  // The end.

  /// The channels of the topics, which know whether these have ended; `nil`: that is not known.
  private let channels: [(any EndingTopic)?]
  /// Which of the subscriptions were cancelled: the end of these topics does not matter.
  private var isCancelled: [Bool]
  /// The number of topics that have not ended and are not cancelled.
  private var ongoing: Int
  /// What the log had when one of the topics ended, the latest one.
  private(set) var latestEnd: End?
  /// The last event that the subscriber gets: the newest one when the last of the topics ended, or
  /// the last that waited when it was too slow; `nil`: they go on.
  private(set) var end: End?
  /// How many events of each topic the subscriber had missed when it was too slow, so that its
  /// subscription ends after what waited then; empty: none; `nil`: it was not too slow.
  private(set) var droppedBeforeDisconnection: [Int]?

  init(
    _ topics: [KeptTopic], _ limit: TopicReadLimit, reader: ObjectIdentifier,
    channels: [(any EndingTopic)?] = []
  ) {
    self.topics = topics
    self.reader = reader
    self.channels = channels
    isCancelled = Array(repeating: false, count: channels.count)
    ongoing = channels.count { $0?.topicEnd == nil }
    self.limit = limit
    readerIndexes = Array(repeating: 0, count: topics.count)
    seen = readerIndexes
    arrivedAtStart = readerIndexes
    skipped = seen
  }

  /// Where a cursor was, to return there if the external log does not have what is missing.
  struct Checkpoint {
    let number: UInt64
    let seen: [Int]
    let skipped: [Int]
  }

  /// The last event that a subscriber gets.
  struct End {
    let beginning: Int
    let number: UInt64
    /// How many events of each topic had come up to it.
    let arrived: [Int]
  }

  /// The number of events of a topic that the subscriber has not read, and that came before the
  /// end.
  func unread(_ index: Int) -> Int {
    let unread = topics[index].unread(after: number, seen: seen[index])
    guard let end else { return unread }
    return max(0, unread - (topics[index].arrived - end.arrived[index]))
  }

  /// Whether events are to be reported of which the number is unknown, because they had left the
  /// log when the subscription began. No limit applies before that.
  var hasUncounted: Bool {
    !uncountedThrough.isEmpty && topics.indices.contains { hasUncounted($0) }
  }

  /// As ``hasUncounted``, for one topic.
  func hasUncounted(_ index: Int) -> Bool {
    !uncountedThrough.isEmpty && uncountedThrough[index] > reportedThrough(index)
  }

  /// Records that the number of the events that have left the log and were not reported is unknown.
  func recordUncounted() {
    uncountedThrough = topics.indices.map { hasUnreported($0) ? topics[$0].log.trimmedThrough : 0 }
    forgetUncounted()
  }

  private func forgetUncounted() {
    if !uncountedThrough.isEmpty, beforeMissing == nil, !hasUncounted { uncountedThrough = [] }
  }

  /// Whether events of a topic have left the log that were neither read nor reported.
  func hasUnreported(_ index: Int) -> Bool {
    topics[index].log.trimmedThrough > reportedThrough(index)
  }

  /// The number up to which everything of a topic was read or reported.
  func reportedThrough(_ index: Int) -> UInt64 {
    max(number, reported[topics[index].name] ?? 0)
  }

  /// Whether the log has every event after the place.
  var isComplete: Bool { !topics.contains { $0.log.trimmedThrough > number } }

  /// Sets `seen` for the place where the cursor is now. Of topics with unreported events, which the
  /// log does not have, it stays as it is.
  func recount() {
    for (index, topic) in topics.enumerated() where !hasUnreported(index) {
      seen[index] = topic.arrived - topic.log.count(after: number)
    }
    if isAhead { skipped = seen }
    forgetUncounted()
  }

  /// Whether the place is one of the epoch that begins, perhaps again.
  ///
  /// - Parameter isFirst: whether the numbers have not begun before. A reader that named no epoch
  ///   awaits that beginning only.
  func awaitsBeginning(of epoch: UInt64, isFirst: Bool) -> Bool {
    self.epoch == 0 ? isFirst : self.epoch == epoch
  }

  /// The next event is the first one after the place, which was ahead of the log.
  func endBeingAhead() {
    isAhead = false
    for (index, topic) in topics.enumerated() { skip(to: topic.arrived, index: index) }
  }

  /// The numbers begin anew after `number`: nothing of the new ones is missing.
  func begin(epoch: UInt64, after number: UInt64) {
    self.epoch = epoch
    newestAtStart = number
    reported = [:]
    absentThrough = 0
    uncountedThrough = []
    arrivedAtStart = topics.indices.map {
      max(arrivedAtStart[$0], topics[$0].arrivedAtBeginning)
    }
  }

  /// The subscriber, which came before the numbers began, gets all events after that place.
  func returnToStart(after number: UInt64) {
    self.number = number
    claim = nil
    isAhead = false
    // Nothing was delivered, also if the place has been passed since.
    seen = topics.indices.map { max(arrivedAtStart[$0], topics[$0].arrivedAtBeginning) }
    skipped = seen
  }

  /// The subscriber does not get the events of a topic up to the one that came as the `arrived`th,
  /// and has not missed them by being slow.
  func skip(to arrived: Int, index: Int) {
    guard arrived > seen[index] else { return }
    skipped[index] += arrived - seen[index]
    seen[index] = arrived
  }

  /// Whether a channel is that of a topic, and not of a later one with the same name, and goes on.
  func has(_ channel: any EndingTopic, index: Int) -> Bool {
    index < channels.count && channels[index] === channel && !isCancelled[index]
  }

  /// The latest end of those of its topics that have ended.
  var latestTopicEnd: TopicEnd? { channels.lazy.compactMap { $0?.topicEnd }.max() }

  /// Records what the log had when topics ended. If no other goes on, the subscriber gets nothing
  /// that comes later.
  ///
  /// - Parameter count: the number of topics that end now; 0 if they had ended before the cursor
  ///   was made.
  func recordEnd(_ end: End, of count: Int = 0) {
    ongoing -= count
    latestEnd = end
    endIfLast()
  }

  /// Records which subscriptions were cancelled.
  func recordCancelled(_ isCancelled: [Bool]) {
    // Another thread may have recorded more.
    self.isCancelled = zip(self.isCancelled, isCancelled).map { $0 || $1 }
    ongoing = zip(channels, self.isCancelled).count { $0?.topicEnd == nil && !$1 }
    endIfLast()
  }

  /// Sets the end if no topic goes on. An end that is set does not move.
  private func endIfLast() {
    if ongoing == 0, let latestEnd { finish(latestEnd) }
  }

  /// As ``KeptTopic/arrived(through:)``, of the events that came before the end.
  func arrived(_ index: Int, through number: UInt64) -> Int {
    min(topics[index].arrived(through: number), end?.arrived[index] ?? .max)
  }

  /// Sets the last event that the subscriber gets, because its topics have ended, unless it has an
  /// end.
  func finish(_ end: End) {
    if self.end == nil { self.end = end }
  }

  /// The subscription ends, because it was too slow: after the last event that waited, or, if some
  /// of these have left the log, where it is.
  func disconnect(after end: End) {
    if !isTooSlow { droppedBeforeDisconnection = dropped }
    self.end = end
  }

  /// Whether the subscription ends because it was too slow.
  var isTooSlow: Bool { droppedBeforeDisconnection != nil }

  /// Whether it is behind the last event that the subscriber gets.
  var hasPassedEnd: Bool {
    guard let end else { return false }
    return beginning != end.beginning || number >= end.number
  }

  func addDropped(_ count: Int, index: Int) {
    guard count > 0 else { return }
    if dropped.isEmpty { dropped = Array(repeating: 0, count: topics.count) }
    dropped[index] += count
  }

  var position: EventPosition { EventPosition(epoch: epoch, number: number) }

  /// Where the cursor is now.
  var checkpoint: Checkpoint { Checkpoint(number: number, seen: seen, skipped: skipped) }

  var positionBeforeMissing: EventPosition? {
    beforeMissing.map { EventPosition(epoch: epoch, number: $0.number) }
  }
}

/// How many events may wait for a reader of a ``TopicLog``, beside those that it began with.
struct TopicReadLimit {
  var count = Int.max
  /// Whether the subscription ends after those events, instead of without the oldest.
  var disconnects = false
}

/// Events that a reader of a ``TopicLog`` does not find there.
struct MissingEvents {
  /// `nil`: topics that are not kept, or all topics, may have had events.
  var topic: String?
  let after: EventPosition
  let through: EventPosition
  /// How many events of the topic these are, if that is known.
  var count: Int?
  /// Whether an external log may have them.
  var mayBeElsewhere = false
  /// Whether the reader reports what is missing when it reads the log of the hub, so that there is
  /// nothing to report if the external log does not have them.
  var isReportedLater = false
}
