extension TopicHub where Topic == String {
  /// Reads the events of one or several topics after `start`, and each event from then on, with
  /// their positions, whenever the caller has time for them.
  ///
  /// As ``events(for:from:buffering:label:fileID:line:)-([String],_,_,_,_,_)``, without a task:
  ///
  /// ```swift
  /// let reader = rooms.reader(for: ["swift"], from: .after(last)) { loop.execute(readMore) }
  /// // On the event loop, at first and whenever the closure was called:
  /// while connection.isWritable, let element = reader.nextIfAvailable() {
  ///   connection.write(element)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - start: where the subscription begins.
  ///   - buffering: how many events may wait for the subscriber, as for the sequence.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - whenReadable: called once after each ``TopicReader/nextIfAvailable()`` that has returned
  ///     `nil`, when there may be more, or when the subscription has ended; by the thread that
  ///     sends or ends it. It should only schedule a call of that function. Not called before the
  ///     first.
  /// - Returns: the reader, whose subscription has begun.
  /// - Precondition: as for the sequence.
  /// - Complexity: amortised O(topics).
  public func reader(
    for topics: [String], from start: SubscriptionStart,
    buffering: BufferingPolicy<Event> = .unbounded, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    whenReadable: @escaping @Sendable () -> Void
  ) -> TopicReader<Event> {
    reader(request(for: topics, from: start, buffering, Origin(fileID, line, label)), whenReadable)
  }

  /// As ``reader(for:from:buffering:label:fileID:line:whenReadable:)``, for a subscriber that was
  /// given what another reader has read, up to `position`.
  ///
  /// An event loop can read each topic once for all of its subscribers, and give a reader of its
  /// own to one that is too slow for that: with ``TopicReader/position`` of the common reader, or
  /// that of the last event which the subscriber has taken. `buffering` then applies to everything
  /// that came after it. With ``SubscriptionStart/after(_:atMost:)`` instead, a subscriber first
  /// gets what it begins with, however much that is.
  ///
  /// If what came after `position` is no longer retained, it is missing as for a subscriber that
  /// begins: it is requested from an external log, or reported without a number of events. Of what
  /// is retained after it, the reader then takes as many events as its limit at once; the limit
  /// applies to those behind them.
  ///
  /// - Parameters:
  ///   - topics: as for a reader that begins.
  ///   - position: that of a reader or an event of this hub.
  ///   - buffering: how many events after `position` may wait for the subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - whenReadable: as for a reader that begins.
  /// - Returns: the reader, whose subscription has begun.
  /// - Precondition: as for a reader that begins.
  /// - Complexity: amortised O(topics).
  public func reader(
    for topics: [String], continuingAfter position: EventPosition,
    buffering: BufferingPolicy<Event> = .unbounded, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    whenReadable: @escaping @Sendable () -> Void
  ) -> TopicReader<Event> {
    var request = request(
      for: topics, from: .after(position), buffering, Origin(fileID, line, label))
    request.isContinued = true
    return reader(request, whenReadable)
  }

  /// As ``reader(for:from:buffering:label:fileID:line:whenReadable:)``, for the topics that at
  /// least one of `patterns` matches, also topics that begin later.
  ///
  /// See ``events(matching:from:label:fileID:line:)``. The subscription ends when the hub finishes.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - start: where the subscription begins.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - whenReadable: as for named topics.
  /// - Returns: the reader, whose subscription has begun.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`).
  public func reader(
    matching patterns: [TopicPattern], from start: SubscriptionStart, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    whenReadable: @escaping @Sendable () -> Void
  ) -> TopicReader<Event> {
    reader(request(matching: patterns, from: start, Origin(fileID, line, label)), whenReadable)
  }

  private func reader(
    _ request: PositionedRequest<Event>, _ whenReadable: @escaping @Sendable () -> Void
  ) -> TopicReader<Event> {
    let notice = ReadNotice(whenReadable)
    let core = TopicReaderCore(begin(request, notice), notice)
    return TopicReader(core, requiredRetention)
  }
}
