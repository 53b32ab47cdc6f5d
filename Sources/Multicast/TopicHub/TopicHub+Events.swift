extension TopicHub {
  /// The events of `topic` from now on, as an asynchronous sequence. See
  /// ``EventHub/events(buffering:where:label:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence receives; called by senders.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Complexity: amortised O(1), as for every subscription to a topic.
  public func events(
    for topic: Topic, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventSequence<Event> {
    events(for: topic, buffering, filter, Origin(fileID, line, label))
  }

  private func events(
    for topic: Topic, _ buffering: BufferingPolicy<Event>,
    _ filter: (@Sendable (Event) -> Bool)?, _ origin: Origin
  ) -> EventSequence<Event> {
    EventSequence(completion) { [weak self] in
      self?.withHub(of: topic) { $0.consumer(buffering, filter, origin: origin) }
    }
  }

  /// The first event of `topic` from now on that satisfies `predicate`; `nil` if the topic or the
  /// hub finishes, or the task is cancelled, first. See ``EventHub/first(where:)``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - predicate: called by senders.
  /// - Returns: the event, or `nil`.
  /// - Complexity: amortised O(1), as for every subscription to a topic, and the wait.
  public func first(
    for topic: Topic, where predicate: @escaping @Sendable (Event) -> Bool
  ) async -> Event? {
    await events(for: topic, .unbounded, predicate, .unknown).makeAsyncIterator().next()
  }
}
