/// What a subscriber that has no task gets from an external log, before what it reads in the hub.
///
/// ## Thread safety
/// For the reader alone. The log answers on any thread.
struct ExternalReading<Event: Sendable>: ~Copyable {
  private let retention: TopicRetention<Event>
  /// The events of the range that is read, page by page.
  private var replay: ExternalReplay<Event>?
  /// What is missing in `replay`.
  private var missing: ArraySlice<MissingEvents> = []
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
  /// What is not needed any more. The caller destroys it when nothing accesses the reading, because
  /// the `deinit` of an event may use the reader.
  struct Remains {
    var replay: ExternalReplay<Event>?
    var content: ExternalAnswer<Event>.Content?
  }

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
  /// - Parameter remains: gets what is not needed any more.
  /// - Returns: whether it was there.
  mutating func takeAnswer(for reader: TopicLogReader, _ remains: inout Remains) -> Bool {
    guard let content = answer.take() else { return false }
    remains = Remains(replay: replay, content: content)
    request = nil
    switch content {
    case .position(let isThere): reader.settleClaim(isThere)
    case .page(let page):
      missing = replay?.take(page)[...] ?? []
      if let position = replay?.failedAfter { reader.returnToLog(after: position) }
    }
    return true
  }

  /// Asks the log for what `reader` needs next.
  ///
  /// - Parameters:
  ///   - remains: gets what is not needed any more.
  ///   - whenAnswered: called when there is an answer to take, on any thread.
  /// - Returns: `false`: it needs nothing more.
  mutating func ask(
    for reader: TopicLogReader, _ remains: inout Remains,
    whenAnswered: @escaping @Sendable () -> Void
  ) -> Bool {
    if let replay, !replay.isComplete {
      let topics = reader.externalTopics
      ask(whenAnswered) { .page(await replay.requestPage(of: topics, $0)) }
    } else if replay == nil, reader.hasClaim, !hasAskedAboutClaim {
      hasAskedAboutClaim = true
      let position = reader.position
      ask(whenAnswered) { .position(await $0.contains(position)) }
    } else {
      remains = takeReplay()
      return false
    }
    return true
  }

  /// What waits for the log, to be cancelled.
  var question: Task<Void, Never>? { request }

  /// Takes out what was not returned.
  mutating func discard() -> Remains {
    missing = []
    return takeReplay()
  }

  private mutating func takeReplay() -> Remains {
    defer { replay = nil }  // Destroys no event: the result has them.
    return Remains(replay: replay)
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
