/// What a subscriber that has no task gets from an external log, before what it reads in the hub.
///
/// ## Thread safety
/// For the reader alone. The log answers on any thread.
struct ExternalReading<Event: Sendable>: ~Copyable {
  private let retention: TopicRetention<Event>
  /// The events of the range that is read, page by page.
  private var replay: ExternalReplay<Event>?
  /// What is missing in `replay`.
  private var missing: [MissingEvents] = []
  private let answer = ExternalAnswer<Event>()
  /// Whether the log was asked about the position where the subscription begins.
  private var hasAskedAboutClaim = false
  /// Waits for the log.
  private var request: Task<Void, Never>?

  init(_ retention: TopicRetention<Event>) {
    self.retention = retention
  }

  deinit {
    request?.cancel()
  }
}

extension ExternalReading {
  /// Whether the log has been asked, and its answer was not taken.
  var isWaiting: Bool { request != nil }

  /// Begins to read a range of events.
  mutating func begin(_ range: ExternalRange) {
    replay = ExternalReplay(range)
  }

  /// The next of what the answers have brought; `nil`: nothing more without a question.
  mutating func next() -> PositionedTopicEvent<Event>? {
    if let element = replay?.next() { return element }
    return missing.isEmpty ? nil : PositionedTopicEvent(missing.removeFirst())
  }

  /// Takes the answer, after which ``isWaiting`` is `false`.
  ///
  /// - Returns: whether it was there.
  mutating func takeAnswer(for reader: TopicLogReader) -> Bool {
    guard let content = answer.take() else { return false }
    request = nil
    switch content {
    case .position(let isThere): reader.settleClaim(isThere)
    case .page(let page):
      missing = replay?.take(page) ?? []
      if let position = replay?.failedAfter { reader.returnToLog(after: position) }
    }
    return true
  }

  /// Asks the log for what `reader` needs next.
  ///
  /// - Parameter whenAnswered: called when there is an answer to take, on any thread.
  /// - Returns: `false`: it needs nothing more.
  mutating func ask(
    for reader: TopicLogReader, whenAnswered: @escaping @Sendable () -> Void
  ) -> Bool {
    if let replay, !replay.isComplete {
      let topics = reader.externalTopics
      ask(whenAnswered) { .page(await replay.requestPage(of: topics, $0)) }
    } else if replay == nil, reader.hasClaim, !hasAskedAboutClaim {
      hasAskedAboutClaim = true
      let position = reader.position
      ask(whenAnswered) { .position(await $0.contains(position)) }
    } else {
      replay = nil
      return false
    }
    return true
  }

  /// Ends the question, and discards what was not returned.
  mutating func cancel() {
    request?.cancel()
    replay = nil
    missing = []
  }

  private mutating func ask(
    _ whenAnswered: @escaping @Sendable () -> Void,
    _ question: @escaping @Sendable (TopicRetention<Event>) async -> ExternalAnswer<Event>.Content
  ) {
    // Detached: it belongs to none of the senders that may call this.
    request = Task.detached { [retention, answer] in
      answer.set(await question(retention))
      whenAnswered()
    }
  }
}
