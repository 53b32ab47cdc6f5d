/// The events that a hub of topics keeps: a log for each topic, with the numbers of one sequence.
///
/// ```
///   order:   1 a │ 2 b │ 3 a │ 4 c │ …       every event, by number
///   topics:  a ▶ 1, 3    b ▶ 2    c ▶ 4      the events of each topic
/// ```
/// An event gets its number and is in both inside one critical section. So a reader that has read
/// the events of some topics up to a number has all of them, and needs no more than that number to
/// go on.
///
/// A topic is kept as long as one of its events is, or a subscriber reads it by its name. Of topics
/// that are not kept, `floor` tells up to which number they may have had events.
///
/// The numbers come from the log itself, or from an external log: see `TopicLog+External.swift`.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicLog: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.
  //
  // SAFETY, of unchecked exclusivity: for the same reason no two threads access anything at once,
  // and no critical section accesses a property inside another access to it.

  /// What is counted, of all topics.
  struct Statistics {
    var events = 0
    var topics = 0
    var bytes = 0
  }

  /// Whether the events and their numbers come from an external log.
  let isExternal: Bool
  /// What is kept of each topic.
  private let perTopic: RetentionLimits
  /// What is kept of all topics together, and the age of each.
  private let total: RetentionLimits
  /// Whether each event has a size.
  private let isMeasured: Bool
  /// `nil` if the age is not limited.
  private let clock: RetentionClock?
  /// Guards everything below. No user code runs inside: the hash of a `String` is none.
  let lock = Lock()
  @exclusivity(unchecked) var keptTopics: [String: KeptTopic] = [:]
  /// Every event by number, and some that have left their log.
  @exclusivity(unchecked) var order = RingBuffer<(number: UInt64, topic: KeptTopic)>()
  @exclusivity(unchecked) var newestNumber: UInt64 = 0
  /// The highest number of an event of a topic that is not kept.
  @exclusivity(unchecked) var floor: UInt64 = 0
  /// The number of times that a topic has lost its last event, and is not kept any more.
  @exclusivity(unchecked) private(set) var removals = 0
  /// The highest number of an event that is not kept any more.
  @exclusivity(unchecked) var maxTrimmed: UInt64 = 0
  @exclusivity(unchecked) private(set) var count = 0
  /// More bits, because each of two events may be as large as an `Int` can say.
  @exclusivity(unchecked) private var bytes: Int128 = 0
  /// The number of events that readers have missed because they were slow.
  @exclusivity(unchecked) var droppedEvents = 0
  /// The readers whose places the log has not reached, and some that have moved since.
  @exclusivity(unchecked) var aheadReaders: [ObjectIdentifier: TopicCursor] = [:]
  /// The number of topics of which events are kept.
  @exclusivity(unchecked) private var filledTopics = 0
  /// `nil`: the age is not limited.
  @exclusivity(unchecked) private var periods: AgePeriods?
  /// Where the numbers come from, and what is known about them.
  @exclusivity(unchecked) var numbering: TopicNumbering
  /// Whether the hub has finished.
  @exclusivity(unchecked) private(set) var isClosed = false

  /// - Parameters:
  ///   - perTopic: what is kept of each topic; its age does not count.
  ///   - total: what is kept of all topics together, and the age up to which events are kept.
  ///   - isMeasured: whether each event has a size.
  ///   - clock: `nil` if the age is not limited.
  ///   - epoch: that of the positions; `nil`: the numbers come from an external log, which has not
  ///     begun.
  init(
    _ perTopic: RetentionLimits, total: RetentionLimits, isMeasured: Bool, _ clock: RetentionClock?,
    epoch: UInt64?
  ) {
    self.perTopic = perTopic
    self.total = total
    self.isMeasured = isMeasured
    self.clock = clock
    periods = total.age.map { AgePeriods($0) }
    isExternal = epoch == nil
    numbering = TopicNumbering()
    if let epoch { numbering.begin(epoch: epoch, after: 0) }
  }
}

// MARK: - Appending

extension TopicLog {
  /// Gives an event the next number, and keeps it.
  ///
  /// - Returns: `nil` if the hub has finished: a subscriber that ends has read everything.
  func append(_ retained: RetainedEvent, to topic: String) -> EventPosition? {
    var garbage = RetainedLog.Garbage()
    return lock.withLockAfterPolling {
      guard !isClosed else { return nil }
      append(retained, number: newestNumber + 1, to: topic, &garbage)
      return EventPosition(epoch: numbering.epoch, number: newestNumber)
    }
    // The garbage is destroyed here, outside the lock.
  }

  /// Makes every later event be refused, before the subscribers end.
  func close() {
    lock.withLock { isClosed = true }
  }

  /// Inside the lock.
  ///
  /// - Parameter number: higher than that of each event before.
  func append(
    _ retained: RetainedEvent, number: UInt64, to topic: String,
    _ garbage: inout RetainedLog.Garbage
  ) {
    newestNumber = number
    let topic = self.topic(named: topic)
    if let gap = numbering.newestGap {
      topic.recordGap(through: gap.through, forgetting: numbering.minimum)
    }
    if !aheadReaders.isEmpty { endBeingAhead(before: number) }
    topic.arrived += 1
    change(topic) {
      $0.append(
        retained.envelope, number: number, size: retained.size, now: retained.now, &garbage)
    }
    order.append((number, topic))
    while count > total.count || bytes > total.bytes, trimOldest(&garbage) {}
    removeIfUnused(topic)
    trim(now: retained.now, &garbage)
    periods?.add(number, now: retained.now)
    if order.count > 2 * count + 64 { removeStale() }
  }

  /// Finds or adds a topic. Inside the lock.
  func topic(named name: String) -> KeptTopic {
    if let topic = keptTopics[name] { return topic }
    let topic = KeptTopic(name, makeLog(after: floor))
    keptTopics[name] = topic
    return topic
  }

  private func makeLog(after number: UInt64) -> RetainedLog {
    RetainedLog(
      count: perTopic.count, bytes: Int(clamping: perTopic.bytes), isMeasured: isMeasured,
      after: number)
  }

  /// Inside the lock.
  func removeIfUnused(_ topic: KeptTopic) {
    guard topic.log.count == 0, topic.readers.isEmpty, keptTopics[topic.name] === topic else {
      return
    }
    if topic.log.trimmedThrough > topic.floor { removals += 1 }
    floor = max(floor, topic.log.trimmedThrough)
    keptTopics[topic.name] = nil
  }

  /// Changes the log of a topic, and counts what that changes.
  private func change(_ topic: KeptTopic, _ body: (inout RetainedLog) -> Void) {
    let before = topic.log.count
    bytes -= Int128(topic.log.bytes)
    body(&topic.log)
    let after = topic.log.count
    count += after - before
    bytes += Int128(topic.log.bytes)
    filledTopics += min(1, after) - min(1, before)
    if topic.log.trimmedThrough > maxTrimmed { maxTrimmed = topic.log.trimmedThrough }
  }

  /// Removes the oldest event of all topics. Inside the lock.
  ///
  /// - Returns: `false` if there is none.
  func trimOldest(_ garbage: inout RetainedLog.Garbage) -> Bool {
    guard let (number, topic) = order.popFirst() else { return false }
    // Otherwise it has left its log before.
    guard topic.log.oldest?.number == number else { return true }
    change(topic) { $0.trim(through: number, &garbage) }
    removeIfUnused(topic)
    return true
  }

  /// Removes events that are too old. Inside the lock.
  func trim(now: Duration, _ garbage: inout RetainedLog.Garbage) {
    while let last = periods?.popOld(now: now) {
      while !order.isEmpty, order[0].number <= last, trimOldest(&garbage) {}
    }
  }

  /// Removes events from `order` that have left their log. Amortised: at least half of them.
  private func removeStale() {
    var rest = RingBuffer<(number: UInt64, topic: KeptTopic)>()
    while let next = order.popFirst() {
      if let oldest = next.topic.log.oldest, oldest.number <= next.number { rest.append(next) }
    }
    swap(&order, &rest)
  }

  /// Removes everything, because the numbers begin anew after `number`. Inside the lock.
  func removeAll(beginningAfter number: UInt64, _ garbage: inout RetainedLog.Garbage) {
    while trimOldest(&garbage) {}
    periods = total.age.map { AgePeriods($0) }
    newestNumber = number
    floor = number
    maxTrimmed = number
    for topic in keptTopics.values { topic.begin(makeLog(after: number)) }
  }
}

// MARK: - State

extension TopicLog {
  /// The position of the newest event.
  var newest: EventPosition {
    lock.withLock { EventPosition(epoch: numbering.epoch, number: newestNumber) }
  }

  var statistics: Statistics {
    withTrimmedLogs { Statistics(events: count, topics: filledTopics, bytes: Int(clamping: bytes)) }
  }

  /// The names of the topics of which events are kept.
  var topics: [String] {
    withTrimmedLogs { keptTopics.values.filter { $0.log.count > 0 }.map(\.name) }
  }

  /// Runs `body` inside the lock, after the events that are too old were removed.
  func withTrimmedLogs<R>(_ body: () -> R) -> R {
    var garbage = RetainedLog.Garbage()
    return withTrimmedLogs(&garbage, body)
    // The garbage is destroyed here, outside the lock.
  }

  /// As above; the caller destroys the garbage, outside the lock.
  func withTrimmedLogs<R>(_ garbage: inout RetainedLog.Garbage, _ body: () -> R) -> R {
    let now = clock?.now
    return lock.withLockAfterPolling {
      if let now { trim(now: now, &garbage) }
      return body()
    }
  }
}

/// The limits of what is kept.
struct RetentionLimits: Sendable {
  var count = Int.max
  /// More bits, as for the sum of the sizes in a log, which has no limit then.
  var bytes = Int128.max
  var age: Duration?
}

extension RetentionLimits {
  /// The limits of `retention`, except for its age.
  init<Event>(of retention: Retention<Event>) {
    count = retention.count
    if retention.size != nil { bytes = Int128(retention.bytes) }
  }
}
