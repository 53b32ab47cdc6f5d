// Where a reader begins.

extension TopicLog {
  /// The topics of a reader: names, or every topic that a function accepts.
  enum Topics: Sendable {
    case names([String])
    case matching(@Sendable (String) -> Bool)
  }

  /// The place of a reader that begins at `start`, and what it misses. Release it with
  /// ``release(_:)``.
  ///
  /// A place that the log has not reached is a claim, if the events come from an external log:
  /// another server may have delivered them.
  ///
  /// - Parameters:
  ///   - isContinued: whether the limit applies to the events after `start` too.
  ///   - channels: those of the topics, if it reads by name.
  func cursor(
    _ start: SubscriptionStart, of topics: Topics, _ limit: TopicReadLimit, isContinued: Bool,
    reader: ObjectIdentifier, channels: [(any EndingTopic)?]
  ) -> (TopicCursor, MissingEvents?) {
    withTrimmedLogs {
      var names: [String] = []
      if case .names(let given) = topics { names = given }
      let cursor = TopicCursor(
        names.map { topic(named: $0) }, limit, reader: reader, channels: channels)
      for (index, topic) in cursor.topics.enumerated() { topic.add(cursor, index: index) }
      // First: of what came after the end nothing counts.
      if let end = cursor.latestTopicEnd { cursor.recordEnd(self.end(for: cursor, at: end)) }
      let missing = place(cursor, at: start, topics)
      for (index, topic) in cursor.topics.enumerated() {
        cursor.seen[index] = topic.arrived - topic.log.count(after: cursor.number)
        cursor.arrivedAtStart[index] = isContinued ? cursor.seen[index] : topic.arrived
      }
      cursor.recordUncounted()
      cursor.skipped = cursor.seen
      // A gap that is found later is that of a slow reader, not one from before its time.
      cursor.hasRead = isContinued && !cursor.hasUncounted && !isBeforeBlock(cursor)
      return (cursor, missing)
    }
  }

  /// What the log had when a topic ended, while its reader began. Inside the lock.
  private func end(for cursor: TopicCursor, at end: TopicEnd) -> TopicCursor.End {
    let hasBegunSince = end.beginning != numbering.beginnings
    return TopicCursor.End(
      beginning: end.beginning, number: end.number,
      arrived: cursor.topics.map {
        hasBegunSince ? $0.arrivedAtBeginning : $0.arrived(through: end.number)
      })
  }

  /// Whether events came during a block, after the place of a new reader, which an external log may
  /// have. Inside the lock.
  private func isBeforeBlock(_ cursor: TopicCursor) -> Bool {
    let gap = numbering.lastGap(through: cursor.newestAtStart, isOfBlock: true)
    return gap.map { cursor.number < $0.through } ?? false
  }

  /// Removes a reader. It may be called again.
  func release(_ cursor: TopicCursor) {
    lock.withLock {
      // First: a reader of patterns is among the readers of no topic.
      aheadReaders.removeValue(forKey: ObjectIdentifier(cursor))
      guard !cursor.readerIndexes.isEmpty else { return }
      addDropped(missed(by: cursor), of: cursor)
      for (index, topic) in cursor.topics.enumerated() {
        topic.remove(cursor, index: index)
        removeIfUnused(topic)
      }
      cursor.readerIndexes = []
    }
  }

  /// Inside the lock.
  private func place(
    _ cursor: TopicCursor, at start: SubscriptionStart, _ topics: Topics
  ) -> MissingEvents? {
    guard numbering.hasBegun else {
      if case .after(let position, atMost: _) = start {
        cursor.epoch = position.epoch
        cursor.number = position.number
        addAhead(cursor)
      }
      return nil
    }
    cursor.beginning = numbering.beginnings
    cursor.epoch = numbering.epoch
    cursor.newestAtStart = newestNumber
    switch start {
    case .live: cursor.number = newestNumber
    case .retained: place(cursor, beforeLast: .max, of: topics)
    case .last(let count): place(cursor, beforeLast: count, of: topics)
    case .after(let position, atMost: let count):
      return place(cursor, after: position, atMost: count, topics)
    }
    return nil
  }

  private func place(
    _ cursor: TopicCursor, after position: EventPosition, atMost limit: Int, _ topics: Topics
  ) -> MissingEvents? {
    cursor.number = position.number
    guard position.epoch == cursor.epoch else {
      // If the log has begun anew, all that it has is new. The first read finds what was trimmed
      // after this place.
      cursor.number = start(beforeLast: limit, of: topics, cursor)
      return MissingEvents(topic: nil, after: position, through: cursor.position)
    }
    if position.number <= newestNumber {
      // The first read finds what was trimmed.
      guard count(of: topics, cursor, after: position.number) > limit else { return nil }
      cursor.number = start(beforeLast: limit, of: topics, cursor)
      return MissingEvents(
        topic: name(of: topics), after: position, through: cursor.position,
        mayBeElsewhere: isExternal)
    }
    if isExternal {
      addAhead(cursor)
      return nil
    }
    cursor.number = newestNumber
    return MissingEvents(topic: nil, after: position, through: cursor.position)
  }

  /// The number of events of `topics` after a number, before the end of a new reader.
  private func count(of topics: Topics, _ cursor: TopicCursor, after number: UInt64) -> Int {
    switch topics {
    case .names:
      let end = max(number, lastNumber(for: cursor))
      return cursor.topics.reduce(0) { $0 + $1.log.count(after: number) - $1.log.count(after: end) }
    case .matching(let accepts):
      var count = 0
      var offset = firstOffset(after: number)
      while offset < order.count {
        if isKept(order[offset]), accepts(order[offset].topic.name) { count += 1 }
        offset += 1
      }
      return count
    }
  }

  /// The topic of a reader that has one.
  func name(of topics: Topics) -> String? {
    if case .names(let names) = topics, names.count == 1 { names[0] } else { nil }
  }

  /// Places a cursor before the newest `limit` events of `topics`, of which none is missing.
  private func place(_ cursor: TopicCursor, beforeLast limit: Int, of topics: Topics) {
    cursor.number = start(beforeLast: limit, of: topics, cursor)
    _ = takeMissing(topics, cursor)
    cursor.removalsAtStart = removals
  }

  private func start(
    beforeLast limit: Int, of topics: Topics, _ cursor: TopicCursor
  ) -> UInt64 {
    switch topics {
    case .names:
      start(beforeLast: limit, in: cursor.topics, through: lastNumber(for: cursor))
    case .matching(let accepts): start(beforeLast: limit, accepts)
    }
  }

  /// The number after which the newest `limit` events of some topics begin, of those up to `last`.
  ///
  /// - Complexity: O(topics × log numbers × log events): a binary search for the number.
  func start(beforeLast limit: Int, in topics: [KeptTopic], through last: UInt64) -> UInt64 {
    let last = min(last, newestNumber)
    guard limit > 0, let oldest = topics.compactMap({ $0.log.oldest?.number }).min(),
      oldest <= last
    else { return last }
    let later = topics.reduce(0) { $0 + $1.log.count(after: last) }
    let all = topics.reduce(0) { $0 + $1.log.count } - later
    guard limit < all else { return oldest - 1 }
    // At least `limit` events come after `low`; fewer come after `high`.
    var low = oldest - 1
    var high = last
    while high - low > 1 {
      let middle = low + (high - low) / 2
      let count = topics.reduce(0) { $0 + $1.log.count(after: middle) } - later
      if count >= limit { low = middle } else { high = middle }
    }
    return low
  }

  /// The number after which the newest `limit` events of the topics begin that `accepts` accepts.
  private func start(beforeLast limit: Int, _ accepts: (String) -> Bool) -> UInt64 {
    var number = newestNumber
    var rest = limit
    var offset = order.count
    while rest > 0, offset > 0 {
      offset -= 1
      guard isKept(order[offset]), accepts(order[offset].topic.name) else { continue }
      number = order[offset].number - 1
      rest -= 1
    }
    return number
  }

  func isKept(_ element: (number: UInt64, topic: KeptTopic)) -> Bool {
    element.topic.log.oldest.map { $0.number <= element.number } ?? false
  }
}

// MARK: - Claims

extension TopicLog {
  /// Records that the log has not reached the place of a reader. Inside the lock.
  private func addAhead(_ cursor: TopicCursor) {
    cursor.hasPosition = true
    cursor.claim = numbering.marks
    cursor.isAhead = true
    aheadReaders[ObjectIdentifier(cursor)] = cursor
  }

  /// Does not count what came up to the places that an event with `number` passes. Inside the lock.
  ///
  /// - Complexity: O(readers that are ahead).
  func endBeingAhead(before number: UInt64) {
    for (reader, cursor) in aheadReaders where !cursor.isAhead || cursor.number < number {
      if cursor.isAhead { cursor.endBeingAhead() }
      aheadReaders.removeValue(forKey: reader)
    }
    // Destroys no cursor: its reader removes it before.
  }

  /// Records whether the external log has the event of a claim: `nil` if that is unknown.
  ///
  /// - Returns: what the reader misses, because there is no such event.
  func settle(_ cursor: TopicCursor, isThere: Bool?) -> MissingEvents? {
    guard let isThere, let claim = cursor.claim else { return nil }
    return lock.withLock {
      if isThere {
        // Otherwise the log has got there only since: the next read moves the reader back.
        if !numbering.refuses(cursor.number, claim: claim) { cursor.claim = nil }
        return nil
      }
      // Otherwise the next read finds what has changed, or the event has arrived.
      guard numbering.hasBegun, cursor.beginning == numbering.beginnings,
        cursor.number > newestNumber
      else { return nil }
      return moveBack(cursor)
    }
  }

  /// Moves a reader, which has moved behind what is missing, back to the place after `number`,
  /// because the external log does not have all that is missing. The next read does not report it
  /// again.
  func moveBack(_ cursor: TopicCursor, after number: UInt64) {
    lock.withLock {
      guard let before = cursor.beforeMissing else { return }
      let absent = cursor.number
      cursor.beforeMissing = nil
      cursor.number = min(absent, max(before.number, number))
      // Otherwise the numbers have begun anew, and the next read skips the rest of the old ones.
      guard cursor.beginning == numbering.beginnings else { return }
      cursor.absentThrough = max(cursor.absentThrough, absent)
      cursor.seen = before.seen
      cursor.skipped = before.skipped
      cursor.recount()
      // How many of what has left the log were received is unknown.
      if cursor.number > before.number { cursor.recordUncounted() }
    }
  }

  /// Places a reader that named a position without an event where it would have begun without one.
  /// Inside the lock.
  func moveBack(_ cursor: TopicCursor) -> MissingEvents {
    let wrong = cursor.position
    cursor.number = cursor.newestAtStart
    cursor.claim = nil
    cursor.isAhead = false
    // Nothing was delivered: what has come since then is for the subscriber after all.
    cursor.seen = cursor.arrivedAtStart
    cursor.skipped = cursor.arrivedAtStart
    return MissingEvents(topic: nil, after: wrong, through: cursor.position)
  }
}
