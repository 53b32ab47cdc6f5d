internal import Dispatch
internal import Synchronization

// Subscribers that ask for positions read the log. An event that is delivered to such a subscriber
// only makes it read: its mailbox holds at most two such elements, the rest of one that the
// consumer has begun to handle, and a new one.
//
//     sender ──▶ log ◀─────────────────────── reads ─┐
//        └─────▶ mailbox: "read" ──▶ drain ──▶ reader ──▶ handler
//
// So the retained events are the buffer of all these subscribers. A slow one misses what leaves the
// log before it has read it, and receives a notice of the range.
//
// A signal stands for the events that are in the log when the consumer begins to handle it: the
// newest of them is its goal. Until the consumer has passed the goal on, the signal counts as not
// handled, and a flush waits for it. An event that comes after that has a signal of its own, so a
// flush does not wait for it. An event that comes before, while the signal waits, joins the signal,
// also if a flush has begun.

extension EventHub {
  /// Adds a handler that reads the log.
  func follow(
    _ delivery: HandlerDelivery<PositionedEvent<Event>>, from start: SubscriptionStart,
    where filter: (@Sendable (Event) -> Bool)?, owner: (any AnyObject & Sendable)? = nil,
    origin: Origin
  ) -> EventSubscription {
    start.requireValidCount(name)
    let reader = LogReader(log, filter: filter)
    return follow(delivery, owner: owner, origin: measured(origin)) {
      LogFollower(reader, log.callPositioned, $0)
    } begin: {
      reader.begin(start)
    }
  }

  /// Adds a handler that is called with what it reads elsewhere, after each delivery.
  ///
  /// - Parameters:
  ///   - delivery: where the handler is called.
  ///   - owner: the object with which the subscription ends.
  ///   - origin: where it was made, with what measures the handler.
  ///   - makeFollower: returns what calls the given function with each element.
  ///   - begin: sets where the follower begins. Called before the handler is, when each delivery
  ///     tells the follower to read. Returns whether the hub has ended before, by its sequencer:
  ///     that may deliver events after the hub was marked as finished.
  func follow<Element>(
    _ delivery: HandlerDelivery<Element>, owner: (any AnyObject & Sendable)?, origin: Origin,
    _ makeFollower: (@escaping @Sendable (Element) -> Void) -> any Follower,
    begin: () -> Bool
  ) -> EventSubscription {
    let mailbox: HandlerMailbox
    let called: @Sendable (Element) -> Void
    switch delivery.measured(by: origin.timer) {
    case .sender(let handler):
      called = handler
      mailbox = InlineMailbox(drops: nil, whenExhausted: removal)
    case .queue(let queue, let handler):
      called = handler
      mailbox = QueueMailbox(
        on: queue, limit: .max, whenFull: .dropNewest, isIdle: false, drops: nil,
        whenExhausted: removal)
    case .actor(let home, let handler):
      called = handler
      mailbox = ActorMailbox(
        on: home, limit: .max, whenFull: .dropNewest, isIdle: false, drops: nil,
        whenExhausted: removal)
    case .task:
      fatalError("Multicast: no asynchronous handler reads the log")
    }
    let follower = makeFollower(called)
    mailbox.progress = follower.progress
    // A cancellation may remove the entry meanwhile, and the end of the follower stops what `begin`
    // begins.
    let registration = withExtendedLifetime(follower) {
      addFollower(mailbox, follower, owner: owner, origin: origin, begin: begin)
    }
    if let entry = registration.entry { mailbox.start(entry) }
    return EventSubscription(registration)
  }

  /// A consumer that reads the log.
  func consumer(
    _ reader: LogReader<Event>, from start: SubscriptionStart, origin: Origin
  ) -> EventConsumer {
    consumer(reading: reader, origin: origin) { reader.begin(start) }
  }

  /// A consumer whose events only say that there is something to read.
  ///
  /// - Parameters:
  ///   - reader: what the consumer reads.
  ///   - origin: where the subscription was made.
  ///   - begin: sets where the reader begins, as in ``follow(_:owner:origin:_:begin:)``. Called
  ///     before the consumer is returned.
  func consumer(
    reading reader: any ReadsAhead, origin: Origin = .unknown,
    begin: () -> Bool = { false }
  ) -> EventConsumer {
    let mailbox = StreamMailbox(
      limit: .max, whenFull: .dropNewest, coalesces: false, drops: nil)
    let registration = addFollower(mailbox, nil, owner: nil, origin: origin, begin: begin)
    return EventConsumer(registration, mailbox, state.end, reader: reader)
  }

  /// Adds a subscriber that each delivery tells to read. Its consumer has not started.
  ///
  /// - Parameter begin: called when the entry is in the registry, before those who observe the hub
  ///   are told of the subscriber: it reads what they send.
  /// - Returns: the entry.
  private func addFollower(
    _ mailbox: Mailbox, _ follower: (any Follower)?, owner: AnyObject?,
    origin: Origin, begin: () -> Bool
  ) -> EntryHandle {
    mailbox.isFollowing = true
    // It has not started, so nothing reads yet. Before it is in the registry, because it may finish
    // as soon as it is.
    _ = mailbox.offerSignal()
    kinds.add(
      mailbox is InlineMailbox ? SubscriberKinds.handlerWithBuffer : SubscriberKinds.buffer)
    let pipeline = EventPipeline<Event>(
      filter: nil, start: nil, mailbox: mailbox, handler: { _ in }, follower: follower)
    var isEnded = false
    let registration = registry.add(
      Subscriber(handler: { _ in }, pipeline: pipeline), weakly: owner, mailbox: mailbox,
      origin: origin,
      begin: { registration, report in
        beginning(registration) {
          isEnded = begin()
          report()
        }
      })
    if isEnded, let entry = registration.entry { finish(entry) }
    return registration
  }

  /// Runs `begin` while the call stack of this thread shows the entry.
  ///
  /// So a flush in the `deinit` of an event that leaves meanwhile, or in a hook of the hub, does
  /// not wait for what this subscriber handles only when it has begun.
  func beginning(_ registration: EntryHandle, _ begin: () -> Void) {
    guard let entry = registration.entry else { return begin() }
    let invocation = Invocation(ThreadCallStack.current)
    // A handle keeps only the memory of the entry, which another thread may remove meanwhile.
    withExtendedLifetime(entry) {
      invocation.show(.passUnretained(entry))
      begin()
      invocation.end()
    }
  }
}
