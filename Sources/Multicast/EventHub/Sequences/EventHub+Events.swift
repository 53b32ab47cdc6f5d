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

  /// The retained events after `start`, and each event from then on, with their positions, as an
  /// asynchronous sequence.
  ///
  /// The subscription begins before this returns. Between what is retained and what is new there is
  /// neither a gap nor a duplicate. Where events that the subscriber should receive are no longer
  /// retained, it receives the range in their place.
  ///
  /// ```swift
  /// for await element in chat.events(from: .after(last)) {
  ///   switch element {
  ///   case .event(let message, at: let position): await write(message, id: position.description)
  ///   case .missed(let range): await writeGap(range.count)
  ///   }
  /// }
  /// ```
  /// The subscriber has no buffer of its own: what waits for it is what the hub retains, and a slow
  /// one misses what leaves. So thousands of slow subscribers need no more memory than one.
  ///
  /// - Parameters:
  ///   - start: where the subscription begins; each later iterator begins there too.
  ///   - filter: which events the sequence receives; the consumer calls it.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1).
  public func events(
    from start: SubscriptionStart, where filter: (@Sendable (Event) -> Bool)? = nil,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> PositionedSequence<Event> {
    start.requireValidCount(name)
    return PositionedSequence(
      source: EventSource(state.end) { [weak self] in
        guard let self else { return nil }
        let reader = LogReader(self.log, filter: filter)
        return self.consumer(reader, from: start, origin: Origin(fileID, line, label))
      })
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
