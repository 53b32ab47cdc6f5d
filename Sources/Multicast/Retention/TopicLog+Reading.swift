// What a reader finds after its place, in the order of numbers.

extension TopicLog {
  /// Appends the events of `topics` after the place of `cursor` to `items`, in the order of their
  /// numbers, and moves the place behind them.
  ///
  /// - Parameters:
  ///   - limit: the most events to read.
  ///   - items: empty.
  ///   - garbage: gets what has left the log. No event is destroyed inside.
  /// - Returns: events before those in `items` that are not there, and that were not reported
  ///   before; and the number of the newest event that the reader gets.
  /// - Complexity: O(`limit`) for one name, O(`limit` × names) for several, and O(all events after
  ///   the place) for a function; O(topics) in addition if any event after the place is not kept.
  func read(
    _ topics: Topics, _ cursor: TopicCursor, atMost limit: Int,
    into items: inout RingBuffer<TopicItem>, _ garbage: inout RetainedLog.Garbage
  ) -> (missing: [MissingEvents], newest: UInt64) {
    withTrimmedLogs(&garbage) {
      guard numbering.hasBegun else { return ([], 0) }
      cursor.beforeMissing = nil
      let missing = find(topics, cursor, limit, &items)
      // Events that have left the log may be reported later: behind a gap, or after the end.
      cursor.recount()
      if missing.first?.mayBeElsewhere != true { cursor.hasRead = true }
      return (missing, min(newestNumber, lastNumber(for: cursor)))
    }
  }

  /// Records that a topic ends: in its channel, and for its readers. One whose topics have all
  /// ended gets nothing that comes later, also if it reads before its subscriptions end.
  ///
  /// - Complexity: O(readers of the topic), and O(its topics) for each if there were events since
  ///   the last end.
  func recordEnd(of name: String, in channel: any EndingTopic) {
    lock.withLock {
      guard channel.topicEnd == nil else { return }
      channel.recordEnd(TopicEnd(beginning: numbering.beginnings, number: newestNumber))
      for (cursor, index) in keptTopics[name]?.readers ?? []
      where cursor.has(channel, index: index) {
        cursor.recordEnd(end(for: cursor), of: 1)
      }
    }
  }

  /// Sets the last event that a reader gets, because its subscriptions have ended, unless the end
  /// of its topics has set it: if some of them were cancelled, what the log had when the last of
  /// the others ended.
  ///
  /// - Parameter isRecorded: whether the log knows the end of each that has finished; otherwise the
  ///   hub is gone or has finished, and the reader gets what is there.
  func endReading(of cursor: TopicCursor, isRecorded: Bool) {
    lock.withLock {
      guard cursor.end == nil else { return }
      cursor.finish((isRecorded ? cursor.latestEnd : nil) ?? end(for: cursor))
    }
  }

  /// Records which subscriptions of a reader were cancelled, while others go on.
  func recordCancelled(_ isCancelled: [Bool], of cursor: TopicCursor) {
    lock.withLock { cursor.recordCancelled(isCancelled) }
  }

  /// What the log has now. Inside the lock.
  private func end(for cursor: TopicCursor) -> TopicCursor.End {
    if let latest = cursor.latestEnd, latest.beginning == numbering.beginnings,
      latest.number == newestNumber
    {
      return latest
    }
    return TopicCursor.End(
      beginning: numbering.beginnings, number: newestNumber,
      arrived: cursor.topics.map(\.arrived))
  }

  /// The number of the newest event that a reader gets.
  func newestNumber(for cursor: TopicCursor) -> UInt64 {
    lock.withLock { min(newestNumber, lastNumber(for: cursor)) }
  }

  /// The number after which a reader gets no events, because its topics have ended, or because it
  /// was too slow. Inside the lock.
  func lastNumber(for cursor: TopicCursor) -> UInt64 {
    guard let end = cursor.end else { return .max }
    // All events of a later beginning came after the end.
    return end.beginning == numbering.beginnings ? end.number : numbering.start
  }

  /// As ``read(_:_:atMost:into:_:)``, inside the lock.
  ///
  /// A reader receives everything in the order of numbers. So the first of these that applies is
  /// all that one read returns:
  ///
  /// 1. what is missing because the numbers have begun, perhaps anew, or because the external log
  ///    has no event at the place;
  /// 2. nothing, if the place is behind the last event that the reader gets;
  /// 3. what the reader misses because more events wait than its limit allows;
  /// 4. what a new reader requests from the external log because of a gap;
  /// 5. a gap that begins at the place;
  /// 6. what has left the log, and the events, up to the next gap.
  private func find(
    _ topics: Topics, _ cursor: TopicCursor, _ limit: Int, _ items: inout RingBuffer<TopicItem>
  ) -> [MissingEvents] {
    if let missing = takeChange(cursor) { return [missing] }
    guard cursor.number < lastNumber(for: cursor) else { return [] }
    let overflow = takeOverflow(cursor)
    if !overflow.isEmpty { return overflow }
    // Perhaps only since then, because the reader was too slow.
    let end = lastNumber(for: cursor)
    guard cursor.number < end else { return [] }
    while true {
      let gap = numbering.firstGap(after: cursor.number).flatMap { $0.after < end ? $0 : nil }
      if !cursor.hasRead, let missing = missingBeforeStart(topics, cursor) { return [missing] }
      if let gap, gap.after <= cursor.number {
        return [takeGap(through: min(gap.through, end), cursor)]
      }
      let last = gap?.after ?? end
      let missing = missingEvents(topics, cursor, through: last)
      if missing.first?.mayBeElsewhere == true { return missing }
      readEvents(topics, cursor, through: last, limit, &items)
      // Otherwise nothing is before the gap.
      if gap == nil || !items.isEmpty || !missing.isEmpty { return missing }
    }
  }

  /// What a new reader requests from the external log because there are gaps.
  ///
  /// The log says what there is up to a gap of its own, also of what the hub retains. If it does
  /// not have the events of a block, the reader reads what the hub retains, and finds the gap at
  /// its place.
  private func missingBeforeStart(_ topics: Topics, _ cursor: TopicCursor) -> MissingEvents? {
    func gap(isOfBlock: Bool) -> TopicNumbering.Gap? {
      numbering.lastGap(through: cursor.newestAtStart, isOfBlock: isOfBlock).flatMap {
        max(cursor.number, cursor.absentThrough) < $0.through ? $0 : nil
      }
    }
    guard let last = gap(isOfBlock: false) ?? gap(isOfBlock: true) else { return nil }
    var missing = requestGap(through: last.through, cursor, returns: last.isOfBlock)
    missing.topic = name(of: topics)
    return missing
  }

  /// Moves the place behind a gap for which the external log is asked.
  ///
  /// - Parameter returns: whether the reader returns if the log does not have the events.
  private func requestGap(
    through number: UInt64, _ cursor: TopicCursor, returns: Bool
  ) -> MissingEvents {
    let before = cursor.checkpoint
    var missing = takeGap(through: number, cursor)
    cursor.beforeMissing = returns ? before : cursor.checkpoint
    cursor.skipped = before.skipped  // If the log has the events, they are delivered.
    missing.mayBeElsewhere = true
    missing.isReportedLater = returns
    return missing
  }

  /// What is missing up to a number because it was trimmed.
  private func missingEvents(
    _ topics: Topics, _ cursor: TopicCursor, through last: UInt64
  ) -> [MissingEvents] {
    guard maxTrimmed > cursor.number else { return [] }
    let isOld = !cursor.hasRead || cursor.limit.count == .max
    guard isExternal, isOld, last > cursor.absentThrough else {
      return takeMissing(topics, cursor, through: last, isDropped: true)
    }
    // The external log has the events of all these topics up to the last missing one.
    let skipped = cursor.skipped
    var missing = takeMissing(topics, cursor, through: last)
    for index in missing.indices { missing[index].mayBeElsewhere = true }
    if !missing.isEmpty { cursor.beforeMissing = cursor.checkpoint }
    cursor.skipped = skipped  // If the log has the events, they are delivered.
    cursor.number = missing.reduce(cursor.number) { max($0, $1.through.number) }
    return missing
  }

  /// Moves the place after a beginning of the numbers, or if the external log has no such event.
  ///
  /// - Returns: what is missing because of that.
  private func takeChange(_ cursor: TopicCursor) -> MissingEvents? {
    if cursor.beginning != numbering.beginnings, let missing = takeBeginning(cursor) {
      return missing
    }
    if let claim = cursor.claim {
      if numbering.refuses(cursor.number, claim: claim) { return moveBack(cursor) }
      // Each refusal says that there are events up to a number, and so does a later event.
      let isKnown = numbering.hasRefusal(ofClaim: claim)
      if isKnown || cursor.number <= newestNumber { cursor.claim = nil }
    }
    guard cursor.number < numbering.minimum else { return nil }
    let isElsewhere =
      !cursor.hasRead && numbering.minimum <= cursor.newestAtStart
      && numbering.minimum > cursor.absentThrough
    return isElsewhere
      ? requestGap(through: numbering.minimum, cursor, returns: false)
      : takeGap(through: numbering.minimum, cursor)
  }

  private func takeBeginning(_ cursor: TopicCursor) -> MissingEvents? {
    let isFirst = cursor.beginning == 0
    let before = positionBeforeBeginning(of: cursor)
    let isOfEpoch = cursor.beginning >= numbering.epochBeginning
    cursor.beginning = numbering.beginnings
    cursor.begin(epoch: numbering.epoch, after: numbering.start)
    let start = EventPosition(epoch: numbering.epoch, number: numbering.start)
    // An epoch of 0 stands for the one with which the external log begins.
    guard isFirst, before.epoch == 0 || before.epoch == start.epoch else {
      // Of the same epoch it may have everything up to there, and more if it was ahead.
      if isOfEpoch, before > start { return nil }
      let isComplete = isOfEpoch && before == start
      cursor.number = start.number
      cursor.claim = nil
      cursor.isAhead = false
      return isComplete ? nil : MissingEvents(topic: nil, after: before, through: start)
    }
    // The first events of this hub. A subscriber without a position misses none, unless the numbers
    // have begun again since.
    guard cursor.hasPosition else {
      cursor.number = start.number
      return before.epoch == 0 || before == start
        ? nil : MissingEvents(topic: nil, after: before, through: start)
    }
    if cursor.number > start.number, cursor.claim == nil { return nil }
    let isBefore = cursor.number < start.number
    defer { cursor.returnToStart(after: start.number) }
    return cursor.number == start.number
      ? nil
      : MissingEvents(
        topic: nil, after: cursor.position, through: start, mayBeElsewhere: isBefore)
  }

  /// The position of a reader when the numbers began, or began anew. One that came before the first
  /// beginning, and named no epoch, belongs to that, also if it has not read since.
  private func positionBeforeBeginning(of cursor: TopicCursor) -> EventPosition {
    guard cursor.beginning == 0, cursor.epoch == 0, numbering.beginnings > 1 else {
      return cursor.position
    }
    guard cursor.hasPosition else { return numbering.first }
    return EventPosition(epoch: numbering.first.epoch, number: cursor.number)
  }

  private func takeGap(through number: UInt64, _ cursor: TopicCursor) -> MissingEvents {
    let after = cursor.position
    cursor.number = number
    // Of a topic that was reported beyond the gap, everything up to there is counted.
    for index in cursor.topics.indices where cursor.reportedThrough(index) <= number {
      cursor.skip(to: cursor.arrived(index, through: number), index: index)
    }
    return MissingEvents(topic: nil, after: after, through: cursor.position)
  }

  /// The events of `topics` after the place that are not kept any more, and were not reported
  /// before.
  ///
  /// - Parameter isDropped: whether the reader was too slow, so that they count as dropped.
  func takeMissing(
    _ topics: Topics, _ cursor: TopicCursor, through limit: UInt64 = .max, isDropped: Bool = false
  ) -> [MissingEvents] {
    var missing: [MissingEvents] = []
    func add(_ topic: String?, after: UInt64? = nil, through: UInt64, count: Int? = nil) {
      let through = min(through, limit)
      let reported = max(cursor.number, cursor.reported[topic] ?? 0)
      guard through > reported else { return }
      cursor.reported[topic] = through
      missing.append(
        MissingEvents(
          topic: topic, after: EventPosition(epoch: cursor.epoch, number: after ?? reported),
          through: EventPosition(epoch: cursor.epoch, number: through), count: count))
    }
    switch topics {
    case .names:
      for (index, topic) in cursor.topics.enumerated() {
        let through = min(topic.log.trimmedThrough, limit)
        guard through > cursor.reportedThrough(index) else { continue }
        let count = max(0, cursor.arrived(index, through: through) - cursor.seen[index])
        // What had left the log when the subscription began is not counted.
        let isCounted = !cursor.hasUncounted(index)
        // Otherwise what has left is behind the gap that begins there.
        if count == 0, through < topic.log.trimmedThrough, isCounted { continue }
        let isDropped = isDropped && isCounted
        if isDropped {
          cursor.seen[index] += count
          addDropped(count, index, of: cursor)
        } else {
          cursor.skip(to: cursor.seen[index] + count, index: index)
        }
        add(topic.name, through: through, count: isDropped ? count : nil)
      }
    case .matching(let accepts):
      if let before = cursor.removalsAtStart, before != removals {
        // A topic of which events were kept then has none now, perhaps all before the floor.
        cursor.reported.removeValue(forKey: nil)
        cursor.removalsAtStart = nil
      }
      // From the place: a topic that was kept until now may have had events before those that were
      // reported, if one that was too large made the topic lose all others.
      add(nil, after: cursor.number, through: floor)
      for topic in keptTopics.values where accepts(topic.name) {
        // Otherwise the range without a topic includes it.
        let through = topic.log.trimmedThrough
        if through > topic.floor { add(topic.name, through: through) }
      }
    }
    cursor.reported = cursor.reported.filter { $0.value > cursor.number }
    return missing
  }

  private func readEvents(
    _ topics: Topics, _ cursor: TopicCursor, through last: UInt64, _ limit: Int,
    _ items: inout RingBuffer<TopicItem>
  ) {
    let end = min(last, newestNumber)
    guard cursor.number < end else { return }
    switch topics {
    case .names:
      cursor.number = read(cursor.topics, after: cursor.number, through: end, limit, &items)
    case .matching(let accepts):
      cursor.number = scan(accepts, after: cursor.number, through: end, limit, &items)
    }
  }

  /// Reads from the logs of some topics.
  ///
  /// - Returns: the number after which to read on.
  private func read(
    _ topics: [KeptTopic], after number: UInt64, through last: UInt64, _ limit: Int,
    _ items: inout RingBuffer<TopicItem>
  ) -> UInt64 {
    if topics.count == 1 {
      let name = topics[0].name
      var count = 0
      var newest = last
      _ = topics[0].log.forEach(after: number, atMost: limit) { item in
        guard item.number <= last else { return }
        items.append(TopicItem(topic: name, number: item.number, envelope: item.envelope))
        count += 1
        newest = item.number
      }
      return count == limit ? newest : last
    }
    var found: [TopicItem] = []
    var isCut = false
    for topic in topics {
      var count = 0
      _ = topic.log.forEach(after: number, atMost: limit) { item in
        count += 1
        guard item.number <= last else { return }
        found.append(TopicItem(topic: topic.name, number: item.number, envelope: item.envelope))
      }
      isCut = isCut || count == limit
    }
    found.sort { $0.number < $1.number }
    for item in found.prefix(limit) { items.append(item) }
    guard isCut || found.count > limit, !found.isEmpty else { return last }
    return found[min(limit, found.count) - 1].number
  }

  /// Reads the events of all topics, and takes those that `accepts` accepts.
  ///
  /// - Returns: the number after which to read on.
  private func scan(
    _ accepts: (String) -> Bool, after number: UInt64, through last: UInt64, _ limit: Int,
    _ items: inout RingBuffer<TopicItem>
  ) -> UInt64 {
    var offset = firstOffset(after: number)
    var rest = limit
    while offset < order.count, order[offset].number <= last {
      let element = order[offset]
      if isKept(element), accepts(element.topic.name),
        let envelope = element.topic.log.envelope(element.number)
      {
        items.append(
          TopicItem(topic: element.topic.name, number: element.number, envelope: envelope))
        rest -= 1
        if rest == 0 { return element.number }
      }
      offset += 1
    }
    return last
  }

  /// The offset in `order` of the first event with a higher number.
  func firstOffset(after number: UInt64) -> Int {
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      if order[middle].number > number { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
