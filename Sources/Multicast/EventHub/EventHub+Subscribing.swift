public import Dispatch
internal import Synchronization

extension EventHub {
  /// Calls `handler` with the replay, if the hub has one, and with each event from then on.
  ///
  /// Without a queue, the sender calls the handler. With a queue it is called there, one event
  /// after the other and in the order of each sender, even if the queue is concurrent. If the hub
  /// replays, a handler without a queue is called for the replay before this returns, and then by
  /// one sender at a time, which also delivers the events that others send in the meantime.
  ///
  /// - Parameters:
  ///   - queue: where to call the handler; `nil`: where the event is sent.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber gets; called by senders. Others take no room in the
  ///     buffer.
  ///   - handler: what to do with an event. It may send, subscribe and cancel.
  /// - Returns: a handle of the subscription, which ends when the handle goes away. After
  ///   ``finish()``: the handler gets the replay, and the subscription ends.
  /// - Complexity: amortised O(1), and O(replay).
  public func subscribe(
    on queue: DispatchQueue? = nil, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> Subscription {
    subscribe(queue, buffering, filter, handler, owner: nil)
  }

  /// Calls `handler` with `owner` and each event, as long as `owner` lives.
  ///
  /// The hub does not keep `owner` alive but for the duration of each call, and while a sender puts
  /// an event into its buffer: there its `deinit` may run, if that was the last reference. The
  /// subscription ends with the owner, not with the handle.
  ///
  /// - Parameters:
  ///   - owner: whose subscription it is.
  ///   - queue: where to call the handler; `nil`: where the event is sent.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber gets; called by senders.
  ///   - handler: what to do with an event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(1), and O(replay).
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    with owner: Owner, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Owner, Event) -> Void
  ) -> Subscription {
    // SAFETY: the handler runs only while a delivery keeps the target of its entry, the owner,
    // alive.
    let unretained = Unmanaged.passUnretained(owner)
    return subscribe(
      queue, buffering, filter,
      { event in unretained._withUnsafeGuaranteedRef { handler($0, event) } }, owner: owner)
  }

  /// The replay, if the hub has one, and the events from then on, as an asynchronous sequence.
  ///
  /// The subscription begins before this returns: no event is lost between this and the first
  /// `next()`. See ``EventSequence``.
  ///
  /// - Parameters:
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence gets; called by senders.
  /// - Complexity: amortised O(1), and O(replay).
  public func events(
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil
  ) -> EventSequence<Event> {
    EventSequence { [weak self] in self?.consumer(buffering, filter) }
  }

  /// The first event of the replay, or from now on, that satisfies `predicate`, or `nil` if the hub
  /// finishes or the task is cancelled before.
  ///
  /// - Parameter predicate: called by senders, as a filter is.
  /// - Complexity: O(replay), and the wait.
  public func first(where predicate: @escaping @Sendable (Event) -> Bool) async -> Event? {
    let iterator = events(where: predicate).makeIterator()
    return await iterator.next()
  }
}

// MARK: - How

extension EventHub {
  private func subscribe(
    _ queue: DispatchQueue?, _ buffering: BufferingPolicy<Event>,
    _ filter: (@Sendable (Event) -> Bool)?, _ handler: @escaping @Sendable (Event) -> Void,
    owner: AnyObject?
  ) -> Subscription {
    let replays = sequencer?.replays ?? false
    let mailbox = makeMailbox(queue, buffering, replays: replays)
    let registration = register(
      mailbox, queue == nil ? nil : buffering.positions, filter, handler, owner)
    if replays, let entry = registration.entry { mailbox?.start(entry) }
    return Subscription(registration, mailbox, finishing, endsWithHandle: owner == nil)
  }

  /// The mailbox of a handler; `nil` if it needs none.
  private func makeMailbox(
    _ queue: DispatchQueue?, _ buffering: BufferingPolicy<Event>, replays: Bool
  ) -> HandlerMailbox? {
    let deliver: @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) -> Void = {
      head, reference in
      Entry.value(head, as: Subscriber<Event>.self).pointee.pass { subscriber in
        subscriber.handler(reference.event(Event.self))
      }
    }
    // Without a queue: the events that are sent while the replay is delivered wait for its end.
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

  /// Adds a subscriber, lets it in with its replay, and looks whether the hub has finished
  /// meanwhile.
  private func register(
    _ mailbox: Mailbox?, _ positions: (@Sendable () -> CoalescingIndex<Event>)?,
    _ filter: (@Sendable (Event) -> Bool)?, _ handler: @escaping @Sendable (Event) -> Void,
    _ owner: AnyObject?
  ) -> EntryHandle {
    let start = sequencer.map { _ in StartingPoint() }
    let coalescer = positions.flatMap { make in mailbox.map { Coalescer($0, make()) } }
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
      // From here on senders reach the mailbox, in which nothing moves yet; what they find there
      // came earlier.
      let (replay, isEnded) = sequencer.admit(start)
      let replayed = replay.filter { filter?($0) ?? true }
      if let mailbox, !replayed.isEmpty {
        let effects = mailbox.lock.withLock {
          mailbox.state.prepend(replayed.map { Envelope(event: $0) })
        }
        if let entry = registration.entry {
          for effect in effects { mailbox.perform(effect, for: entry) }
        }
      }
      // Not by the flag of `finish`: events may still come between that and the end.
      if isEnded, let entry = registration.entry { finish(entry) }
      return registration
    }
    // Sequentially consistent: see `finish`.
    if finishing.isRaised.load(ordering: .sequentiallyConsistent), let entry = registration.entry {
      finish(entry)
    }
    return registration
  }

  /// What a mailbox on a queue does when it is exhausted.
  ///
  /// It keeps the registry, which keeps the mailbox, until then; and that comes, because a hub that
  /// goes finishes its subscribers.
  private var removal: @Sendable (Entry) -> Void {
    { [registry] entry in registry.remove(entry) }
  }
}
