// What a slow reader misses if only so many events may wait for it.

extension TopicLog {
  /// More events wait for a reader than its limit.
  struct Overflow {
    /// The number after which as many wait as the limit says; or, if the subscription ends, that of
    /// the last event which the reader gets.
    let number: UInt64
    /// The number of events of each topic that the reader does not get.
    let dropped: [Int]
  }

  /// What a reader misses because more events wait than its limit allows. Inside the lock.
  ///
  /// What a reader begins with does not count, and has no other limit than the retention.
  ///
  /// - Complexity: O(1) for one topic without overflow; else O(topics × log numbers × log
  ///   events).
  func overflow(of cursor: TopicCursor) -> Overflow? {
    let limit = cursor.limit.count
    guard limit < .max, !cursor.isTooSlow, cursor.beginning == numbering.beginnings,
      !cursor.hasUncounted,
      !zip(cursor.seen, cursor.arrivedAtStart).contains(where: { $0 < $1 })
    else { return nil }
    if cursor.topics.count == 1, cursor.unread(0) <= limit { return nil }
    let unread = cursor.topics.indices.map(cursor.unread)
    guard unread.reduce(0, +) > limit else { return nil }
    // What came after the end does not wait for the reader.
    let end = lastNumber(for: cursor)
    let later = cursor.topics.map { $0.log.count(after: end) }
    if cursor.limit.disconnects {
      // What has left the log does not wait: a limit above the retention has no effect. If one
      // topic has as many as the limit, the first of them has left because one too many came.
      let kept = cursor.topics.reduce(0) { $0 + $1.log.count(after: cursor.number) }
      let most = cursor.topics.count == 1 ? limit - 1 : limit
      let waiting = kept - later.reduce(0, +)
      guard waiting > most else { return nil }
      guard cursor.isComplete else { return Overflow(number: cursor.number, dropped: unread) }
      // As many as could wait when the next one came.
      let number = start(beforeLast: waiting - limit + 1, in: cursor.topics, through: end) + 1
      let dropped = zip(cursor.topics, later).map { $0.log.count(after: number) - $1 }
      return Overflow(number: number, dropped: dropped)
    }
    let start = start(beforeLast: limit, in: cursor.topics, through: end)
    let number = min(end, max(cursor.number, start))
    let dropped = cursor.topics.indices.map { index in
      unread[index] - (cursor.topics[index].log.count(after: number) - later[index])
    }
    return Overflow(number: number, dropped: dropped)
  }

  /// The number of events of each topic that a reader has missed because it was slow, and that are
  /// not counted yet: too many wait, or they have left the log before they were read. Inside the
  /// lock.
  ///
  /// - Complexity: that of ``overflow(of:)``, and O(topics).
  func missed(by cursor: TopicCursor) -> [Int] {
    overflow(of: cursor)?.dropped ?? leftRest(of: cursor)
      ?? cursor.topics.indices.map { left(by: cursor, $0) }
  }

  /// As ``missed(by:)``, of one topic. Inside the lock.
  ///
  /// - Complexity: that of ``overflow(of:)``.
  func missed(by cursor: TopicCursor, _ index: Int) -> Int {
    overflow(of: cursor)?.dropped[index] ?? leftRest(of: cursor)?[index]
      ?? left(by: cursor, index)
  }

  /// What waits for a reader that was too slow, and which it does not get, because a part of it has
  /// left the log. Inside the lock.
  ///
  /// - Returns: the number of events of each topic; `nil`: nothing has left.
  /// - Complexity: O(1), or O(topics) if the reader was too slow.
  private func leftRest(of cursor: TopicCursor) -> [Int]? {
    guard cursor.isTooSlow, cursor.beginning == numbering.beginnings else { return nil }
    let unread = cursor.topics.indices.map(cursor.unread)
    let hasLeft = zip(cursor.topics, unread).contains {
      $0.log.trimmedThrough > cursor.number && $1 > 0
    }
    return hasLeft ? unread : nil
  }

  /// The number of events of a topic that have left the log before a reader has read them.
  private func left(by cursor: TopicCursor, _ index: Int) -> Int {
    // An external log may have them.
    let mayBeElsewhere = isExternal && (!cursor.hasRead || cursor.limit.count == .max)
    guard !mayBeElsewhere, !cursor.isTooSlow, cursor.beginning == numbering.beginnings,
      !cursor.hasUncounted
    else { return 0 }
    let through = cursor.topics[index].log.trimmedThrough
    return max(0, cursor.arrived(index, through: through) - cursor.seen[index])
  }

  /// Counts the events of each topic that a reader has missed. Inside the lock.
  func addDropped(_ counts: [Int], of cursor: TopicCursor) {
    for (index, count) in counts.enumerated() { addDropped(count, index, of: cursor) }
  }

  /// Counts events of one topic that a reader has missed, unless it was released, which has counted
  /// them: another thread may cancel it before its last read. Inside the lock.
  func addDropped(_ count: Int, _ index: Int, of cursor: TopicCursor) {
    guard !cursor.readerIndexes.isEmpty else { return }
    cursor.topics[index].dropped += count
    cursor.addDropped(count, index: index)
    droppedEvents += count
  }

  /// Moves a reader behind the events that it misses because too many wait, at most to where the
  /// next gap begins, which has its place in the order.
  ///
  /// - Returns: those of each topic. None if the subscription ends instead, after what waits: it
  ///   gets nothing behind what has left the log.
  func takeOverflow(_ cursor: TopicCursor) -> [MissingEvents] {
    if let dropped = leftRest(of: cursor) {
      disconnect(cursor, after: cursor.number, dropped)
      return []
    }
    guard let overflow = overflow(of: cursor) else { return [] }
    guard !cursor.limit.disconnects else {
      disconnect(cursor, after: overflow.number, overflow.dropped)
      return []
    }
    let before = cursor.number
    let gap = numbering.firstGap(after: before)?.after ?? .max
    let last = min(gap, lastNumber(for: cursor))
    guard before < last else { return [] }
    let unread = cursor.topics.indices.map(cursor.unread)
    cursor.number = min(overflow.number, last)
    return cursor.topics.enumerated().compactMap { index, topic in
      // What was reported before is not in the range, and what has left the log since is.
      let after = max(before, cursor.reported[topic.name] ?? 0)
      let through = min(max(overflow.number, topic.log.trimmedThrough), last)
      let arrived = cursor.arrived(index, through: through)
      let dropped = unread[index] - (cursor.arrived(index, through: .max) - arrived)
      guard dropped > 0 else { return nil }
      addDropped(dropped, index, of: cursor)
      cursor.seen[index] = arrived
      cursor.reported[topic.name] = through
      return MissingEvents(
        topic: topic.name, after: EventPosition(epoch: cursor.epoch, number: after),
        through: EventPosition(epoch: cursor.epoch, number: through), count: dropped)
    }
  }

  /// Ends what a reader gets because it was too slow.
  ///
  /// - Parameters:
  ///   - number: that of the last event, up to which nothing has left the log.
  ///   - dropped: the number of events of each topic that it does not get.
  private func disconnect(_ cursor: TopicCursor, after number: UInt64, _ dropped: [Int]) {
    // What a reader has not read of a topic up to its place, it has missed.
    let arrived = cursor.topics.indices.map {
      number > cursor.number ? cursor.arrived($0, through: number) : cursor.seen[$0]
    }
    cursor.disconnect(
      after: TopicCursor.End(beginning: numbering.beginnings, number: number, arrived: arrived))
    addDropped(dropped, of: cursor)
  }
}
