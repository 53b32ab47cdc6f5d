// Where a reader begins.

extension TopicLog {
  /// The topics of a reader: names, or every topic that a function accepts.
  enum Topics: Sendable {
    case names([String])
    case matching(@Sendable (String) -> Bool)
  }

  /// The place of a reader that begins at `start`, and what it misses.
  ///
  /// A place that the log has not reached is a claim, if the events come from an external log:
  /// another server may have delivered them.
  func cursor(_ start: SubscriptionStart, of topics: Topics) -> (TopicCursor, MissingEvents?) {
    trimmed {
      var cursor = TopicCursor()
      guard numbering.hasBegun else {
        if case .after(let position) = start {
          cursor.epoch = position.epoch
          cursor.number = position.number
          cursor.hasPosition = true
          cursor.claim = numbering.refusalCount
        }
        return (cursor, nil)
      }
      cursor.beginning = numbering.beginnings
      cursor.epoch = numbering.epoch
      switch start {
      case .live: cursor.number = newestNumber
      case .retained: place(&cursor, beforeLast: .max, of: topics)
      case .last(let count): place(&cursor, beforeLast: count, of: topics)
      case .after(let position):
        let missing = place(&cursor, after: position, topics)
        return (cursor, missing)
      }
      return (cursor, nil)
    }
  }

  private func place(
    _ cursor: inout TopicCursor, after position: EventPosition, _ topics: Topics
  ) -> MissingEvents? {
    if position.epoch == cursor.epoch {
      cursor.number = position.number  // The first read finds what was trimmed.
      if position.number <= newestNumber { return nil }
      if isExternal {
        cursor.hasPosition = true
        cursor.claim = numbering.refusalCount
        return nil
      }
      cursor.number = newestNumber
    } else {
      // If the log has begun anew, all that it has is new.
      place(&cursor, beforeLast: .max, of: topics)
    }
    return MissingEvents(topic: nil, after: position, through: cursor.position)
  }

  /// Places a cursor before the newest `limit` events of `topics`, of which none is missing.
  private func place(_ cursor: inout TopicCursor, beforeLast limit: Int, of topics: Topics) {
    switch topics {
    case .names(let names):
      cursor.number = start(beforeLast: limit, in: names.compactMap { keptTopics[$0] })
    case .matching(let accepts): cursor.number = start(beforeLast: limit, accepts)
    }
    _ = takeMissing(topics, &cursor)
  }

  /// The number after which the newest `limit` events of some topics begin.
  private func start(beforeLast limit: Int, in topics: [KeptTopic]) -> UInt64 {
    guard limit > 0 else { return newestNumber }
    let all = topics.reduce(0) { $0 + $1.log.count }
    if all <= limit {
      return topics.compactMap { $0.log.oldest?.number }.min().map { $0 - 1 } ?? newestNumber
    }
    // At most this many of each.
    var numbers: [UInt64] = []
    for topic in topics {
      var items = RingBuffer<RetainedItem>()
      let first = topic.log.number(beforeLast: limit)
      _ = topic.log.read(after: first, atMost: limit, into: &items)
      while let item = items.popFirst() { numbers.append(item.number) }
    }
    numbers.sort()
    return numbers[numbers.count - limit] - 1
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
  /// Records whether the external log has the event of a claim: `nil` if that is unknown.
  ///
  /// - Returns: what the reader misses, because there is no such event.
  func settle(_ cursor: inout TopicCursor, isThere: Bool?) -> MissingEvents? {
    guard let isThere, cursor.claim != nil else { return nil }
    return lock.withLock {
      if isThere {
        cursor.claim = nil
        return nil
      }
      // Otherwise the next read finds what has changed.
      guard numbering.hasBegun, cursor.beginning == numbering.beginnings,
        cursor.number > newestNumber
      else { return nil }
      return moveBack(&cursor, to: newestNumber)
    }
  }

  /// Places a reader that named a position without an event after `number`. Inside the lock.
  func moveBack(_ cursor: inout TopicCursor, to number: UInt64) -> MissingEvents {
    let wrong = cursor.position
    cursor.number = number
    cursor.claim = nil
    return MissingEvents(topic: nil, after: wrong, through: cursor.position)
  }
}
