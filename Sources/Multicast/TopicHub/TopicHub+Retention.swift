extension TopicHub where Topic == String {
  /// Creates a hub that retains events, for subscribers that come late, come back, or fall behind.
  ///
  /// ```swift
  /// let rooms = TopicHub<String, Message>(
  ///   retention: .last(100), total: .bytes(64 << 20) { $0.text.utf8.count })
  /// ```
  /// A topic exists as long as it has subscribers or retains events. The positions of all topics
  /// are in one sequence, so a subscriber of several topics goes on with one position.
  ///
  /// - Parameters:
  ///   - retention: which events of each topic the hub keeps.
  ///   - total: which events of all topics together, for example by their bytes; the oldest ones
  ///     leave first.
  ///   - epoch: that of the hub's positions; `nil`: a random one. See ``EventPosition``.
  ///   - ordering: the order in which the subscribers of a topic without positions see the events
  ///     of several senders.
  ///   - storage: how each topic stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Precondition: neither retention has keys or a condition, not both limit sizes, and
  ///   `retention` keeps something.
  /// - Complexity: O(1).
  public convenience init(
    retention: Retention<Event>, total: Retention<Event> = .all, epoch: UInt64? = nil,
    ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree, name: String? = nil
  ) {
    Self.requireLimits(retention, total, name)
    self.init(
      ordering: ordering, storage: storage, name: name,
      log: TopicLog(retention, total: total, epoch: epoch))
  }

  static func requireLimits(
    _ retention: Retention<Event>, _ total: Retention<Event>, _ name: String?
  ) {
    let prefix = messagePrefix(name)
    require(
      !retention.isNone,
      "\(prefix) its retention keeps nothing; leave it out, or use .last(1).")
    require(
      retention.and(total).hasOnlyLimits,
      """
      \(prefix) a hub of topics retains by number, bytes and seconds; the newest event of each topic is \
      .last(1).
      """)
  }

  /// Delivers `event` as ``send(_:to:)`` does, and returns its position.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  /// - Returns: `nil` after ``finish()`` and while the hub is blocked: the event is not kept then.
  /// - Precondition: the hub retains events.
  /// - Complexity: as ``send(_:to:)``.
  @discardableResult
  public func publish(_ event: Event, to topic: String) -> EventPosition? {
    let log = retainingLog
    guard !gate.isFinished && !gate.isBlocked else { return nil }
    requireOwnEvents(log)
    let position = log.append(event, to: topic)
    deliverToAll(event, to: topic, through: topics.hub(of: topic))
    return position
  }

  /// The position of the newest event of any topic, or one with number 0 before the first event.
  /// Epoch 0: the external log has not begun.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(1).
  public var newestPosition: EventPosition {
    retainingLog.newest
  }

  /// The topics of which events are retained, in no order.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(topics).
  public var retainedTopics: [String] { retainingLog.topics }

  /// How much the hub retains now.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(1).
  public var retainedAmount: RetainedAmount {
    let statistics = retainingLog.statistics
    return RetainedAmount(
      events: statistics.events, topics: statistics.topics, bytes: statistics.bytes)
  }

  /// The retained events of one or several topics after `start`, and each event from then on, with
  /// their positions, as an asynchronous sequence.
  ///
  /// The events of all these topics come in the order of their positions. So the position of the
  /// last one is all that a client needs to go on: the sequence that begins after it has neither a
  /// gap nor a duplicate. What is no longer retained is reported for each topic. See
  /// ``EventHub/events(from:where:)``.
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
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics).
  public func events(
    for topics: [String], from start: SubscriptionStart
  ) -> PositionedTopicSequence<Event> {
    require(
      !topics.isEmpty, "\(messagePrefix(name)) a subscription needs at least one topic.")
    requireStart(start)
    let names = Array(Set(topics))
    return sequence(.names(names), from: start) { hub, signals in
      names.map { hub.subscribe(to: $0, Self.request(signals, endingAfter: names.count)) }
    }
  }

  /// As ``events(for:from:)-([String],_)``, for one topic.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - start: where the subscription begins.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1).
  public func events(
    for topic: String, from start: SubscriptionStart
  ) -> PositionedTopicSequence<Event> {
    events(for: [topic], from: start)
  }

  /// As ``events(for:from:)-([String],_)``, for the topics that at least one of `patterns` matches,
  /// also topics that begin later.
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
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`). The consumer reads what the hub retains of
  ///   all topics after its last position, and takes what matches.
  public func events(
    matching patterns: [TopicPattern], from start: SubscriptionStart
  ) -> PositionedTopicSequence<Event> {
    require(
      !patterns.isEmpty, "\(messagePrefix(name)) a subscription needs at least one pattern.")
    requireStart(start)
    let patterns = Set(patterns)
    let topics = TopicLog<Event>.Topics.matching { topic in
      patterns.contains { $0.matches(topic) }
    }
    return sequence(topics, from: start) { hub, signals in
      [hub.subscribe(matching: patterns, Self.request(signals, endingAfter: 1))]
    }
  }

  /// A sequence whose consumers read the log after each signal.
  ///
  /// - Parameter subscribe: subscribes what sends the signals.
  private func sequence(
    _ topics: TopicLog<Event>.Topics, from start: SubscriptionStart,
    _ subscribe: @escaping @Sendable (TopicHub, TopicSignals) -> [EventSubscription]
  ) -> PositionedTopicSequence<Event> {
    let log = retainingLog
    return PositionedTopicSequence(
      source: EventSource(completion) { [weak self, completion] in
        guard let self else { return nil }
        let reader = TopicLogReader(log, topics, readers)
        reader.begin(start, subscriptions: subscribe(self, reader.signals))
        return EventConsumer(nil, reader.signals.mailbox, completion, reader: reader)
      })
  }

  /// Signals each event that is delivered.
  ///
  /// - Parameter count: the number of subscriptions after whose end the consumer ends.
  private static func request<Element: Sendable>(
    _ signals: TopicSignals, endingAfter count: Int
  ) -> SubscriptionRequest<Element> {
    SubscriptionRequest(
      .sender { _ in signals.signal() }, .unbounded, nil,
      [SubscriberOption { $0.onEnd = { _, _ in signals.end(of: count) } }])
  }

  private func requireStart(_ start: SubscriptionStart) {
    guard case .last(let count) = start else { return }
    require(
      count >= 0,
      "\(messagePrefix(name)) a subscription cannot begin with the last \(count) events.")
  }

  private var retainingLog: TopicLog<Event> {
    guard let log else {
      fatalError(
        """
        \(messagePrefix(name)) it retains no events, so there are no positions; create it with a \
        retention, such as TopicHub(retention: .last(100)).
        """)
    }
    return log
  }
}

/// How much a ``TopicHub`` retains.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct RetainedAmount: Hashable, Sendable {
  /// The number of events.
  public let events: Int
  /// The number of topics with such events.
  public let topics: Int
  /// The sum of their sizes, by the measure of the retention; 0 without one.
  public let bytes: Int
}
