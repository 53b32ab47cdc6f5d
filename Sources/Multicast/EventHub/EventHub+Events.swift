extension EventHub {
  /// The replay, if the hub has one, and the events from then on, as an asynchronous sequence.
  ///
  /// The subscription begins before this returns, so events that are sent before the first `next()`
  /// wait in the buffer. See ``EventSequence``.
  ///
  /// - Parameters:
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence receives; called by senders.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Complexity: amortised O(1), and O(replay).
  public func events(
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventSequence<Event> {
    events(buffering, filter, Origin(fileID, line, label))
  }

  private func events(
    _ buffering: BufferingPolicy<Event>, _ filter: (@Sendable (Event) -> Bool)?, _ origin: Origin
  ) -> EventSequence<Event> {
    EventSequence(state.end) { [weak self] in self?.consumer(buffering, filter, origin: origin) }
  }

  /// The first event, of the replay or later, that satisfies `predicate`; `nil` if the hub finishes
  /// or the task is cancelled first.
  ///
  /// - Parameter predicate: called by senders.
  /// - Returns: the event, or `nil`.
  /// - Complexity: O(replay), and the wait.
  public func first(where predicate: @escaping @Sendable (Event) -> Bool) async -> Event? {
    await events(.unbounded, predicate, .unknown).makeAsyncIterator().next()
  }

  func consumer(
    _ buffering: BufferingPolicy<Event>, _ filter: (@Sendable (Event) -> Bool)?, origin: Origin
  ) -> EventConsumer {
    let mailbox = StreamMailbox(
      limit: buffering.limit, whenFull: buffering.whenFull, coalesces: buffering.positions != nil,
      drops: dropCounter)
    let registration = register(
      NewSubscriber(
        mailbox: mailbox, makeIndex: buffering.positions, filter: filter, origin: origin))
    return EventConsumer(registration, mailbox, state.end)
  }
}
