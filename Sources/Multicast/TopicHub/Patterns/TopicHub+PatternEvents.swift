extension TopicHub where Topic == String {
  /// The events of topics that `pattern` matches, from now on, with their topics, as an
  /// asynchronous sequence. See ``EventHub/events(buffering:where:label:fileID:line:)``.
  ///
  /// ```swift
  /// for await element in sensors.events(matching: "sensors.*.fire") { warn(element.topic) }
  /// ```
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence receives; called by senders.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Complexity: amortised O(tokens of `pattern`).
  public func events(
    matching pattern: TopicPattern,
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventSequence<TopicEvent<String, Event>> {
    events(matching: [pattern], buffering, filter, Origin(fileID, line, label))
  }

  /// The events of topics that at least one of `patterns` matches, from now on, with their topics,
  /// as an asynchronous sequence. Each is delivered once, also if several match.
  ///
  /// - Parameters:
  ///   - patterns: which topics; none if it is empty.
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence receives; called by senders.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Complexity: amortised O(tokens of `patterns`).
  public func events(
    matching patterns: [TopicPattern],
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventSequence<TopicEvent<String, Event>> {
    events(matching: Set(patterns), buffering, filter, Origin(fileID, line, label))
  }

  private func events(
    matching patterns: Set<TopicPattern>, _ buffering: BufferingPolicy<TopicEvent<String, Event>>,
    _ filter: (@Sendable (TopicEvent<String, Event>) -> Bool)?, _ origin: Origin
  ) -> EventSequence<TopicEvent<String, Event>> {
    EventSequence(completion) { [weak self] in
      self?.withHub(matching: patterns) { $0.consumer(buffering, filter, origin: origin) }
    }
  }

  /// The first event from now on, of a topic that `pattern` matches, that satisfies `predicate`;
  /// `nil` if the hub finishes, or the task is cancelled, first. See ``EventHub/first(where:)``.
  ///
  /// - Parameters:
  ///   - pattern: which topics.
  ///   - predicate: called by senders.
  /// - Returns: the event, or `nil`.
  /// - Complexity: amortised O(tokens of `pattern`), and the wait.
  public func first(
    matching pattern: TopicPattern,
    where predicate: @escaping @Sendable (TopicEvent<String, Event>) -> Bool
  ) async -> TopicEvent<String, Event>? {
    await events(matching: [pattern], .unbounded, predicate, .unknown).makeAsyncIterator().next()
  }
}
