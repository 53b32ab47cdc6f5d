public import Dispatch
internal import Synchronization

extension EventHub {
  /// Calls `handler` with the replay, if the hub has one, and with each event from then on.
  ///
  /// Without a queue, senders call the handler. On a queue it is called for one event at a time, in
  /// the order of each sender, even if the queue is concurrent. In a hub with a replay, a handler
  /// without a queue is called with the replay before this returns, and then by one sender at a
  /// time, which also delivers what others send in the meantime.
  ///
  /// - Parameters:
  ///   - queue: where to call the handler; `nil`: on the thread that sends.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handler receives the replay, and the subscription ends.
  /// - Complexity: amortised O(1), and O(replay).
  public func subscribe(
    on queue: DispatchQueue? = nil, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> EventSubscription {
    subscribe(queue, buffering, filter, handler, owner: nil)
  }

  /// Calls `handler` with `owner` and each event, as long as `owner` lives.
  ///
  /// The hub keeps `owner` alive only during each call, and while a sender appends an event to the
  /// buffer: if it then has the last reference, `deinit` runs on that thread. The subscription ends
  /// with the owner, not with the handle.
  ///
  /// - Parameters:
  ///   - owner: the object with which the subscription ends.
  ///   - queue: where to call the handler; `nil`: on the thread that sends.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(1), and O(replay).
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    with owner: Owner, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Owner, Event) -> Void
  ) -> EventSubscription {
    // SAFETY: the handler runs only while a delivery retains the target of its entry, the owner.
    let unretained = Unmanaged.passUnretained(owner)
    return subscribe(
      queue, buffering, filter,
      { event in unretained._withUnsafeGuaranteedRef { handler($0, event) } }, owner: owner)
  }

  /// The replay, if the hub has one, and the events from then on, as an asynchronous sequence.
  ///
  /// The subscription begins before this returns, so events that are sent before the first `next()`
  /// wait in the buffer. See ``EventSequence``.
  ///
  /// - Parameters:
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence receives; called by senders.
  /// - Complexity: amortised O(1), and O(replay).
  public func events(
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil
  ) -> EventSequence<Event> {
    EventSequence { [weak self] in self?.consumer(buffering, filter) }
  }

  /// The first event, of the replay or later, that satisfies `predicate`; `nil` if the hub finishes
  /// or the task is cancelled first.
  ///
  /// - Parameter predicate: called by senders.
  /// - Complexity: O(replay), and the wait.
  public func first(where predicate: @escaping @Sendable (Event) -> Bool) async -> Event? {
    await events(where: predicate).makeAsyncIterator().next()
  }
}

// MARK: - Implementation

extension EventHub {
  private func subscribe(
    _ queue: DispatchQueue?, _ buffering: BufferingPolicy<Event>,
    _ filter: (@Sendable (Event) -> Bool)?, _ handler: @escaping @Sendable (Event) -> Void,
    owner: AnyObject?
  ) -> EventSubscription {
    let replays = sequencer?.replays ?? false
    let mailbox = makeMailbox(queue, buffering, replays: replays)
    let registration = register(
      mailbox, queue == nil ? nil : buffering.positions, filter, handler, owner)
    if replays, let entry = registration.entry { mailbox?.start(entry) }
    return EventSubscription(registration, mailbox, finishing, endsWithHandle: owner == nil)
  }

  /// A new mailbox for a handler; `nil` if it needs none.
  private func makeMailbox(
    _ queue: DispatchQueue?, _ buffering: BufferingPolicy<Event>, replays: Bool
  ) -> HandlerMailbox? {
    let deliver: @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) -> Void = {
      head, envelope in
      Entry.value(head, as: Subscriber<Event>.self).pointee.pass { subscriber in
        subscriber.handler(envelope.event(Event.self))
      }
    }
    // A handler without a queue has a mailbox if there is a replay: later events wait for its end.
    guard let queue else {
      guard replays else { return nil }
      return InlineMailbox(drops: drops, whenExhausted: removal, deliver: deliver)
    }
    return QueueMailbox(
      on: queue, limit: buffering.limit, whenFull: buffering.whenFull, isIdle: !replays,
      drops: drops, whenExhausted: removal, deliver: deliver)
  }

  func consumer(
    _ buffering: BufferingPolicy<Event>, _ filter: (@Sendable (Event) -> Bool)?
  ) -> EventConsumer {
    let mailbox = StreamMailbox(
      limit: buffering.limit, whenFull: buffering.whenFull, drops: drops)
    let registration = register(mailbox, buffering.positions, filter, { _ in }, nil)
    return EventConsumer(registration, mailbox)
  }

  /// Adds a subscriber, enqueues its replay, and finishes it if the hub has finished.
  private func register(
    _ mailbox: Mailbox?, _ makeIndex: (@Sendable () -> CoalescingIndex<Event>)?,
    _ filter: (@Sendable (Event) -> Bool)?, _ handler: @escaping @Sendable (Event) -> Void,
    _ owner: AnyObject?
  ) -> EntryHandle {
    let start = sequencer.map { _ in StartingPoint() }
    let coalescer = makeIndex.flatMap { make in mailbox.map { Coalescer($0, make()) } }
    var pipeline: EventPipeline<Event>?
    if mailbox != nil || filter != nil || start != nil {
      pipeline = EventPipeline(filter: filter, start: start, mailbox: mailbox, coalescer: coalescer)
    }
    kinds.add(
      mailbox == nil
        ? SubscriberKinds.handler
        : mailbox is InlineMailbox ? SubscriberKinds.handlerWithBuffer : SubscriberKinds.buffer)
    let registration = registry.add(
      Subscriber(handler: handler, pipeline: pipeline), weakly: owner, mailbox: mailbox)
    if let sequencer, let start {
      // From now on senders append to the mailbox, whose consumer has not started. The replay,
      // which is older, goes in front.
      let (replay, isEnded) = sequencer.attach(start)
      let replayed = replay.filter { filter?($0) ?? true }
      if let mailbox, !replayed.isEmpty {
        let effects = mailbox.lock.withLock {
          mailbox.state.prepend(replayed.map { Envelope(event: $0) })
        }
        if let entry = registration.entry {
          for effect in effects { mailbox.perform(effect, for: entry) }
        }
      }
      // Not `finishing`: the sequencer may still deliver events after that is raised.
      if isEnded, let entry = registration.entry { finish(entry) }
      return registration
    }
    // Sequentially consistent: see `finish`.
    if finishing.isRaised.load(ordering: .sequentiallyConsistent), let entry = registration.entry {
      finish(entry)
    }
    return registration
  }

  /// Removes the entry of an exhausted mailbox.
  ///
  /// It retains the registry, which retains the mailbox: a cycle until the removal. The removal
  /// comes at the latest after the hub's `deinit`, which finishes the subscribers.
  private var removal: @Sendable (Entry) -> Void {
    { [registry] entry in registry.remove(entry) }
  }
}
