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
  @inlinable
  public convenience init(
    retention: Retention<Event>, total: Retention<Event> = .all, epoch: UInt64? = nil,
    ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree, name: String? = nil
  ) {
    self.init(
      retention, total, epoch, ordering, storage, name, Self.deliveries,
      PositionedTopicEvent<Event>.call)
  }

  @usableFromInline
  convenience init(
    _ retention: Retention<Event>, _ total: Retention<Event>, _ epoch: UInt64?,
    _ ordering: Ordering, _ storage: StorageStrategy, _ name: String?, _ deliveries: Deliveries,
    _ callPositioned: @escaping PositionedTopicEvent<Event>.Call
  ) {
    Self.requireLimits(retention, total, name)
    let kept = TopicRetention(
      retention, total: total, epoch: epoch, callPositioned: callPositioned)
    self.init(
      ordering: ordering, storage: storage, name: name, retention: kept, deliveries: deliveries)
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
  /// - Precondition: the hub retains events, and these do not come from an ``ExternalLog``.
  /// - Complexity: as ``send(_:to:)``.
  @discardableResult
  public func publish(_ event: Event, to topic: String) -> EventPosition? {
    let retention = requiredRetention
    guard !gate.isFinished && !gate.isBlocked else { return nil }
    requireOwnEvents(retention.log)
    guard let position = retention.append(event, to: topic) else { return nil }
    deliverToAll(event, to: topic, through: topics.hub(of: topic))
    return position
  }

  /// The position of the newest event of any topic, or one with number 0 before the first event.
  /// Epoch 0: the external log has not begun.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(1).
  public var newestPosition: EventPosition {
    requiredRetention.log.newest
  }

  /// The topics of which events are retained, in no order.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(topics).
  public var retainedTopics: [String] { requiredRetention.log.topics }

  /// The number of events that subscribers with positions have missed because they were slow,
  /// counted for each subscriber that names its topics, of all topics, also of those that are gone.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: as of ``statistics``, and O(n × log² events) for a subscriber of `n` topics for
  ///   which more events wait than its limit allows.
  public var droppedEvents: Int { requiredRetention.log.totalDropped }

  /// How much the hub retains now.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(1).
  public var retainedAmount: RetainedAmount {
    let statistics = requiredRetention.log.statistics
    return RetainedAmount(
      events: statistics.events, topics: statistics.topics, bytes: statistics.bytes)
  }

  var requiredRetention: TopicRetention<Event> {
    guard let retention else {
      fatalError(
        """
        \(messagePrefix(name)) this hub retains no events, so it has no positions; create it with \
        a retention, such as TopicHub(retention: .last(100)).
        """)
    }
    return retention
  }
}
