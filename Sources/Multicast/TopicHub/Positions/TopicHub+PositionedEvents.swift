// Sequences with positions: each reads the log of the hub after its signals.

extension TopicHub where Topic == String {
  /// The retained events of one or several topics after `start`, and each event from then on, with
  /// their positions, as an asynchronous sequence.
  ///
  /// The events of all these topics come in the order of their positions. So the position of the
  /// last one is all that a client needs to go on: the sequence that begins after it has neither a
  /// gap nor a duplicate. What is no longer retained is reported for each topic. See
  /// ``EventHub/events(from:where:label:fileID:line:)``.
  ///
  /// ```swift
  /// for await element in rooms.events(for: ["swift", "linux"], from: .after(last)) {
  ///   switch element {
  ///   case .event(let message, at: let position): await write(message, position)
  ///   case .missed(let range, of: let topic): await writeGap(range, topic)
  ///   }
  /// }
  /// ```
  /// The sequence ends when the hub, or each of its topics, finishes. ``flush()`` of the hub does
  /// not wait for its consumer.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - start: where the subscription begins; each later iterator begins there too.
  ///   - buffering: how many events may wait for the subscriber, beside those that it begins with.
  ///     `dropOldest`: the subscriber then receives the range that it misses, and its
  ///     ``MissedEvents/count``. `disconnect`: the sequence ends after what waits. What waits is in
  ///     the retention, so a larger limit than that has no effect.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events, there is a topic, and `buffering` is unbounded, or
  ///   bounded with `dropOldest` or `disconnect`.
  /// - Complexity: amortised O(topics).
  public func events(
    for topics: [String], from start: SubscriptionStart,
    buffering: BufferingPolicy<Event> = .unbounded, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> PositionedTopicSequence<Event> {
    sequence(request(for: topics, from: start, buffering, Origin(fileID, line, label)))
  }

  /// As ``events(for:from:buffering:label:fileID:line:)-([String],_,_,_,_,_)``, for one topic.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - start: where the subscription begins.
  ///   - buffering: how many events may wait.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events, and `buffering` is one that the other function
  ///   accepts.
  /// - Complexity: amortised O(1).
  public func events(
    for topic: String, from start: SubscriptionStart,
    buffering: BufferingPolicy<Event> = .unbounded, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> PositionedTopicSequence<Event> {
    events(
      for: [topic], from: start, buffering: buffering, label: label, fileID: fileID, line: line)
  }

  /// As ``events(for:from:buffering:label:fileID:line:)-([String],_,_,_,_,_)``, for the topics that
  /// at least one of `patterns` matches, also topics that begin later.
  ///
  /// For matching topics of which nothing is retained any more, the subscriber receives one range
  /// without a topic, up to where they may have had events.
  ///
  /// ```swift
  /// for await element in rooms.events(matching: ["rooms.*.alerts"], from: .after(last)) { … }
  /// ```
  /// The sequence ends when the hub finishes.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - start: where the subscription begins; each later iterator begins there too.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`). The consumer reads what the hub retains of
  ///   all topics after its last position, and takes what matches.
  public func events(
    matching patterns: [TopicPattern], from start: SubscriptionStart, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> PositionedTopicSequence<Event> {
    sequence(request(matching: patterns, from: start, Origin(fileID, line, label)))
  }

  private func sequence(_ request: PositionedRequest<Event>) -> PositionedTopicSequence<Event> {
    let retention = requiredRetention
    return PositionedTopicSequence(
      source: EventSource(completion) { [weak self, completion] in
        guard let self else { return nil }
        let mailbox = StreamMailbox(
          limit: .max, whenFull: .dropNewest, coalesces: false, drops: nil)
        return EventConsumer(nil, mailbox, completion, reader: begin(request, mailbox))
      }, retention)
  }
}
