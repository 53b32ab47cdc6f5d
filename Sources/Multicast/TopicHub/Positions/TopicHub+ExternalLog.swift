extension TopicHub where Topic == String {
  /// Creates a hub whose events come from an external log, and have their positions there.
  ///
  /// ```swift
  /// let hub = TopicHub<String, Price>(retention: .last(100)) { writer in
  ///   BrokerLog(connection, delivering: writer)
  /// }
  /// ```
  /// The hub retains the newest events, so most subscribers need nothing from the log. It has no
  /// position until the log calls ``ExternalLogWriter/begin(epoch:after:)``; subscribers may come
  /// before. ``send(_:to:)`` and its relatives are for hubs without an external log.
  ///
  /// - Parameters:
  ///   - retention: which events of each topic the hub keeps.
  ///   - total: which events of all topics together; the oldest ones leave first.
  ///   - ordering: the order in which the subscribers of a topic without positions see the events
  ///     of several senders.
  ///   - storage: how each topic stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  ///   - makeLog: creates the log, which the hub retains. Called once, before the initialiser
  ///     returns.
  /// - Precondition: as ``init(retention:total:epoch:ordering:storage:name:)``.
  /// - Complexity: O(1).
  @inlinable
  public convenience init(
    retention: Retention<Event>, total: Retention<Event> = .all, ordering: Ordering = .perSender,
    storage: StorageStrategy = .waitFree, name: String? = nil,
    log makeLog: (ExternalLogWriter<Event>) -> any ExternalLog<Event>
  ) {
    self.init(
      retention, total, ordering, storage, name, makeLog, Self.deliveries,
      PositionedTopicEvent<Event>.call)
  }

  @usableFromInline
  convenience init(
    _ retention: Retention<Event>, _ total: Retention<Event>, _ ordering: Ordering,
    _ storage: StorageStrategy, _ name: String?,
    _ makeLog: (ExternalLogWriter<Event>) -> any ExternalLog<Event>, _ deliveries: Deliveries,
    _ callPositioned: @escaping PositionedTopicEvent<Event>.Call
  ) {
    Self.requireLimits(retention, total, name)
    let kept = TopicRetention(
      retention, total: total, epoch: nil, callPositioned: callPositioned, isExternal: true)
    self.init(
      ordering: ordering, storage: storage, name: name, retention: kept, deliveries: deliveries)
    kept.external = makeLog(ExternalLogWriter(self))
  }
}

// MARK: - What the writer does

extension TopicHub where Topic == String {
  func beginExternal(epoch: UInt64, after number: UInt64) {
    guard let log = retention?.log else { return }
    let newest = log.newest
    require(
      gate.isFinished || epoch != newest.epoch || number >= newest.number,
      """
      \(messagePrefix(name)) an external log begins anew after \(number), but the hub has received \
      events up to \(newest.number) in the same epoch; use another epoch.
      """)
    log.begin(epoch: epoch, after: number)
    signals.signalAll()
  }

  func deliverExternal(_ event: Event, to topic: String, number: UInt64) -> Int? {
    guard let retention, !gate.isFinished else { return nil }
    // A reader must not take what was not delivered for an event that never was.
    guard !gate.isBlocked else {
      guard retention.log.skip(through: number, isOfBlock: true) else { return nil }
      // The last block may have ended since, before there was a range to report: see `unblock`.
      if !gate.isBlocked { signals.signalAll() }
      return 0
    }
    guard retention.deliver(event, number: number, to: topic) else { return nil }
    return deliverToAll(event, to: topic, through: topics.hub(of: topic))
  }

  func skipExternal(through number: UInt64) {
    guard let retention else { return }
    if retention.log.skip(through: number, isOfBlock: false) { signals.signalAll() }
  }

  func markExternal() -> Int? { retention?.log.markPositions() }

  func refuseExternal(after newest: UInt64, namedBefore mark: Int) {
    retention?.log.refusePositions(after: newest, namedBefore: mark)
    signals.signalAll()
  }
}
