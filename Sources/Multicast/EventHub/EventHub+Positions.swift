extension EventHub {
  /// Sends `event` as ``send(_:)`` does, and returns its position.
  ///
  /// Positions are in the order in which all subscribers see the events.
  ///
  /// ```swift
  /// let log = EventHub<String>(retention: .last(1_000))
  /// let position = log.publish("first")
  /// ```
  ///
  /// - Parameter event: what subscribers receive.
  /// - Returns: the position; `nil` after ``finish()``: then the event is refused and counted.
  ///   While the hub is blocked: `nil`, and the event is skipped.
  /// - Precondition: the hub retains events.
  /// - Complexity: as ``send(_:)``.
  @discardableResult
  public func publish(_ event: Event) -> EventPosition? {
    let log = log
    guard state.isOpen else {
      _ = refuseUnlessBlocked()
      return nil
    }
    guard let sent = log.post(event, through: self) else {
      refuse()
      return nil
    }
    return EventPosition(epoch: log.rules.epoch, number: sent.number)
  }

  /// The position of the newest event, or one with number 0 before the first event.
  ///
  /// A subscriber that begins after this position receives exactly the events that were sent after
  /// the call. It stays after ``finish()``.
  ///
  /// - Precondition: the hub retains events.
  /// - Complexity: O(1).
  public var newestPosition: EventPosition {
    EventPosition(epoch: log.rules.epoch, number: log.newestNumber)
  }

  /// The events that are retained after a position, oldest first, as a subscriber with this start
  /// would receive them now.
  ///
  /// - Parameters:
  ///   - start: where to begin; `live`: no event.
  ///   - limit: the most events. The first missing range does not count.
  /// - Returns: the events, and in their place the ranges that are no longer retained.
  /// - Precondition: the hub retains events, and `limit` is not negative.
  /// - Complexity: O(`limit`).
  public func retainedEvents(
    from start: SubscriptionStart = .retained, atMost limit: Int = .max
  ) -> [PositionedEvent<Event>] {
    require(
      limit >= 0,
      "\(messagePrefix(name)) cannot return \(limit) retained events; use a limit of at least 0.")
    start.requireValidCount(name)
    let reader = LogReader(log, filter: nil)
    reader.begin(start)
    let last = reader.newest
    var events: [PositionedEvent<Event>] = []
    var count = 0
    // The first missing range also if the limit is 0.
    while count < limit || events.isEmpty, let event = reader.next() {
      if event.event != nil {
        guard count < limit, event.position.number <= last else { break }
        count += 1
      }
      events.append(event)
    }
    return events
  }

  /// The sequencer, whose log has the retained events.
  var log: EventSequencer<Event> {
    guard let sequencer, sequencer.retains else {
      fatalError(
        """
        \(messagePrefix(name)) this hub retains no events, so it has no positions; create it with \
        a retention, such as EventHub(retention: .last(100)).
        """)
    }
    return sequencer
  }
}
