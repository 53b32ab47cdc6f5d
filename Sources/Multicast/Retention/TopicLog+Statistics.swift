// The statistics of topics and of their readers.

extension TopicLog {
  /// The statistics of a topic; `nil` if it has neither readers nor events.
  ///
  /// - Complexity: O(readers of the topic), and that of ``overflow(of:)`` for each.
  func statistics(of name: String) -> TopicReaderStatistics? {
    withTrimmedLogs { keptTopics[name].map { statistics(of: $0, missed: missed(by:_:)) } }
  }

  /// Calls `body` with the statistics of each topic.
  ///
  /// - Complexity: that of ``forEach(of:read:body:)``.
  func forEachTopic(_ body: (String, TopicReaderStatistics) -> Void) {
    forEach(of: topicsByReader) { topic, missed in
      // It may have been removed, and made again.
      keptTopics[topic.name].map { topic in
        (topic.name, statistics(of: topic) { missed.count(of: $0, $1) })
      }
    } body: {
      if let (name, statistics) = $0 { body(name, statistics) }
    }
  }

  /// Calls `body` with what the readers of named topics have received of each.
  ///
  /// - Complexity: that of ``forEach(of:read:body:)``.
  func forEachReader(_ body: (ReadTopic, DeliveryStatistics) -> Void) {
    forEach(of: topicsByReader) { topic, missed in
      (keptTopics[topic.name]?.readers ?? []).map { cursor, index in
        let topic = ReadTopic(reader: cursor.reader, index: index)
        return (topic, statistics(of: cursor, index, missed: missed.count(of: cursor, index)))
      }
    } body: {
      for (topic, statistics) in $0 { body(topic, statistics) }
    }
  }

  /// The number of events that readers have missed because too many waited, or left the log.
  ///
  /// - Complexity: that of ``forEach(of:read:body:)``.
  var totalDropped: Int {
    let (topics, ofRemovedTopics) = lock.withLock {
      (topicsWithReaders, keptTopics.values.reduce(droppedEvents) { $0 - $1.dropped })
    }
    var total = ofRemovedTopics
    // A topic that is removed in the meantime still has its number.
    forEach(of: sorted(topics)) { topic, missed in
      statistics(of: topic) { missed.count(of: $0, $1) }.dropped
    } body: {
      total += $0
    }
    return total
  }

  /// All topics: those of one reader, if it has several, one after the other.
  private var topicsByReader: [KeptTopic] {
    sorted(lock.withLock { topicsWithReaders })
  }

  /// Topics by their first readers. Called outside of the lock.
  private func sorted(_ topics: [(topic: KeptTopic, reader: UInt)]) -> [KeptTopic] {
    topics.sorted { $0.reader < $1.reader }.map(\.topic)
  }

  /// All topics, each with the address of its first reader if that has several, and a limit;
  /// otherwise 0. Inside the lock.
  private var topicsWithReaders: [(topic: KeptTopic, reader: UInt)] {
    keptTopics.values.map { topic in
      guard let reader = topic.readers.first?.cursor, reader.topics.count > 1,
        reader.limit.count < .max
      else { return (topic, 0) }
      return (topic, UInt(bitPattern: ObjectIdentifier(reader)))
    }
  }

  /// Calls `read` with each topic, inside the lock, and `body` with what it has returned, outside.
  ///
  /// The lock is free between two topics, unless the first one has a reader of several with a
  /// limit: what that has missed of all of them is computed at once. Then the lock is held for some
  /// of the next topics, at most for as long again.
  ///
  /// - Parameter topics: those of one reader one after the other.
  /// - Complexity: O(topics, and readers of each), and that of ``missed(by:)`` for each reader with
  ///   a limit, if two of these have either all topics in common or none; otherwise, at most, for
  ///   each of these of each topic.
  private func forEach<Result>(
    of topics: [KeptTopic], read: (KeptTopic, inout MissedCounts) -> Result,
    body: (Result) -> Void
  ) {
    var rest = topics[...]
    while !rest.isEmpty {
      var results: [Result] = []
      withTrimmedLogs {
        var missed = MissedCounts(in: self)
        var limit = Int.max
        while missed.cost + results.count < limit, let topic = rest.popFirst() {
          results.append(read(topic, &missed))
          if limit == .max { limit = missed.cost + 1 + missed.computed }
        }
      }
      results.forEach(body)
    }
  }

  /// Inside the lock.
  ///
  /// - Parameter missed: the number of events of the topic that a reader has missed and that are
  ///   not counted yet.
  private func statistics(
    of topic: KeptTopic, missed: (TopicCursor, Int) -> Int
  ) -> TopicReaderStatistics {
    var statistics = TopicReaderStatistics(dropped: topic.dropped, retained: topic.log.count)
    for (cursor, index) in topic.readers {
      let missed = missed(cursor, index)
      statistics.dropped += missed
      if cursor.limit.count < .max { statistics.pending += cursor.unread(index) - missed }
    }
    return statistics
  }

  /// Inside the lock.
  ///
  /// - Parameter uncounted: the events that the reader has missed and that are not counted yet.
  private func statistics(
    of cursor: TopicCursor, _ index: Int, missed uncounted: Int
  ) -> DeliveryStatistics {
    let seen = cursor.seen[index]
    let unread = cursor.unread(index)
    let counted = cursor.dropped.isEmpty ? 0 : cursor.dropped[index]
    var statistics = DeliveryStatistics()
    // A subscription that ends because it was slow misses what follows the events that it has seen.
    let missed = cursor.droppedBeforeDisconnection ?? cursor.dropped
    let seenMissed = missed.isEmpty ? 0 : missed[index]
    statistics.delivered = max(0, seen - cursor.skipped[index] - seenMissed)
    statistics.dropped = counted + uncounted
    statistics.enqueued = statistics.delivered + counted + unread
    return statistics
  }
}

/// What readers have missed that is not counted yet, computed once for each reader while the lock
/// is held.
private struct MissedCounts {
  private let log: TopicLog
  /// By cursor, that of each of its topics. Without those of a single topic or without a limit.
  private var counts: [ObjectIdentifier: [Int]] = [:]
  /// The number of counts that are in `counts`.
  private(set) var computed = 0
  private var used = 0

  /// The number of counts that were computed or used.
  var cost: Int { computed + used }

  init(in log: TopicLog) {
    self.log = log
  }

  /// - Complexity: O(1), the first time that of ``TopicLog/missed(by:)``.
  mutating func count(of cursor: TopicCursor, _ index: Int) -> Int {
    used += 1
    // Only with a limit does what is missed of a topic depend on the others.
    guard cursor.topics.count > 1, cursor.limit.count < .max else {
      return log.missed(by: cursor, index)
    }
    if let counts = counts[ObjectIdentifier(cursor)] { return counts[index] }
    let missed = log.missed(by: cursor)
    computed += missed.count
    counts[ObjectIdentifier(cursor)] = missed
    return missed[index]
  }
}

/// A topic that a reader reads by its name.
struct ReadTopic: Hashable {
  let reader: ObjectIdentifier
  /// The index of the topic among those of the reader.
  let index: Int
}

/// What is counted of a topic in a ``TopicLog``.
struct TopicReaderStatistics {
  /// Events that wait, counted for each reader that limits how many may wait.
  var pending = 0
  /// Events that readers have missed because they were slow.
  var dropped = 0
  /// Events that are kept.
  var retained = 0
}
