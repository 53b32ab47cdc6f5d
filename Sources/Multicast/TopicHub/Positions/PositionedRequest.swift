/// What a subscriber with positions asks of a hub of topics.
struct PositionedRequest<Event: Sendable>: Sendable {
  let topics: TopicLog.Topics
  /// The same for an external log.
  let externalTopics: ExternalTopics
  let start: SubscriptionStart
  let limit: TopicReadLimit
  /// Whether the events that came after `start` wait for the subscriber, as if it had subscribed
  /// there. Otherwise it begins with them, and its limit does not apply to them.
  var isContinued = false
  /// Subscribes what sends the signals.
  let subscribe: @Sendable (TopicHub<String, Event>, TopicSignals) -> [EventSubscription]
}

extension TopicHub where Topic == String {
  /// A request for topics by their names.
  ///
  /// - Parameter origin: where it was made.
  func request(
    for topics: [String], from start: SubscriptionStart, _ buffering: BufferingPolicy<Event>,
    _ origin: Origin
  ) -> PositionedRequest<Event> {
    require(
      !topics.isEmpty, "\(messagePrefix(name)) a subscription needs at least one topic.")
    start.requireValidCount(name)
    var seen = Set<String>()
    let names = topics.count == 1 ? topics : topics.filter { seen.insert($0).inserted }
    return PositionedRequest(
      topics: .names(names), externalTopics: .names(names), start: start,
      limit: readLimit(buffering)
    ) { hub, signals in
      names.map { hub.subscribe(to: $0, Self.request(signals, origin)) }
    }
  }

  /// A request for the topics that at least one pattern matches.
  ///
  /// - Parameter origin: where it was made.
  func request(
    matching patterns: [TopicPattern], from start: SubscriptionStart, _ origin: Origin
  ) -> PositionedRequest<Event> {
    require(
      !patterns.isEmpty, "\(messagePrefix(name)) a subscription needs at least one pattern.")
    start.requireValidCount(name)
    let patterns = Set(patterns)
    let topics = TopicLog.Topics.matching { topic in
      patterns.contains { $0.matches(topic) }
    }
    return PositionedRequest(
      topics: topics, externalTopics: .patterns(Array(patterns)), start: start,
      limit: TopicReadLimit()
    ) { hub, signals in
      [hub.subscribe(matching: patterns, Self.request(signals, origin))]
    }
  }

  /// Begins a subscription.
  ///
  /// - Parameter target: calls the reader when it is signalled.
  func begin(_ request: PositionedRequest<Event>, _ target: any ReadTarget) -> TopicLogReader {
    let reader = makeReader(request, target)
    begin(reader, request)
    return reader
  }

  /// A reader whose subscription has not begun.
  func makeReader(
    _ request: PositionedRequest<Event>, _ target: any ReadTarget
  ) -> TopicLogReader {
    TopicLogReader(
      requiredRetention.log, request.topics, request.externalTopics, signals, request.limit,
      target)
  }

  /// Begins the subscription of a reader.
  func begin(_ reader: TopicLogReader, _ request: PositionedRequest<Event>) {
    reader.begin(request, subscriptions: request.subscribe(self, reader.signals))
  }

  /// Signals each event that is delivered.
  ///
  /// - Parameter origin: where the reader was made.
  private static func request<Element: Sendable>(
    _ signals: TopicSignals, _ origin: Origin
  ) -> SubscriptionRequest<Element> {
    var request = SubscriptionRequest<Element>(
      .sender { _ in signals.signal() }, .unbounded, nil,
      [SubscriberOption { $0.onEnd = { _, _ in signals.topicHasEnded() } }], origin: origin)
    request.isMeasured = true
    return request
  }

  private func readLimit(_ buffering: BufferingPolicy<Event>) -> TopicReadLimit {
    if buffering.limit == .max, buffering.positions == nil { return TopicReadLimit() }
    require(
      buffering.positions == nil
        && (buffering.whenFull == .dropOldest || buffering.whenFull == .disconnect),
      """
      \(messagePrefix(name)) what waits for a subscriber with positions is what the hub retains; use \
      .unbounded, .latest, or .bounded with .dropOldest or .disconnect.
      """)
    return TopicReadLimit(
      count: buffering.limit, disconnects: buffering.whenFull == .disconnect)
  }
}
