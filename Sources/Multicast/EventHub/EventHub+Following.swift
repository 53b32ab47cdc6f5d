internal import Dispatch
internal import Synchronization

// Subscribers that ask for positions read the log. An event that is delivered to such a subscriber
// only tells it to read: its mailbox holds at most one element that says so.
//
//     sender ──▶ log ◀─────────────────────── reads ─┐
//        └─────▶ mailbox: "read" ──▶ drain ──▶ reader ──▶ handler
//
// So the retained events are the buffer of all these subscribers. A slow one misses what leaves the
// log before it has read it, and is told so.
//
// A signal stands for the events that are in the log when the consumer begins to handle it: the newest
// of them is its goal. Until the consumer has passed the goal on, the signal counts as not handled, and
// a flush waits for it. An event that comes later has a signal of its own, so a flush does not wait for
// events that were sent after it began.

extension EventHub {
  /// Adds a handler that reads the log.
  func follow(
    _ delivery: HandlerDelivery<PositionedEvent<Event>>, from start: SubscriptionStart,
    where filter: (@Sendable (Event) -> Bool)?, owner: (any AnyObject & Sendable)? = nil
  ) -> EventSubscription {
    requireStart(start)
    let reader = LogReader(log, filter: filter)
    let progress = ReadingProgress()
    let mailbox: HandlerMailbox
    switch delivery {
    case .sender(let handler):
      mailbox = InlineMailbox(
        drops: nil, whenExhausted: removal, deliver: reader.delivery(progress, handler))
    case .queue(let queue, let handler):
      mailbox = QueueMailbox(
        on: queue, limit: .max, whenFull: .dropNewest, isIdle: false, drops: nil,
        whenExhausted: removal, deliver: reader.delivery(progress, handler))
    case .actor(let home, let handler):
      mailbox = ActorMailbox(
        on: home, limit: .max, whenFull: .dropNewest, isIdle: false, drops: nil,
        whenExhausted: removal, deliver: reader.delivery(progress, handler))
    case .task:
      fatalError("Multicast: no asynchronous handler reads the log")
    }
    mailbox.progress = progress
    let registration = addFollower(mailbox, owner: owner)
    begin(reader, start, registration)
    if let entry = registration.entry { mailbox.start(entry) }
    return EventSubscription(registration)
  }

  /// A consumer that reads the log.
  func consumer(
    _ reader: LogReader<Event>, from start: SubscriptionStart
  ) -> EventConsumer {
    consumer(reading: reader) { self.begin(reader, start, $0) }
  }

  /// A consumer whose events only say that there is something to read.
  ///
  /// - Parameters:
  ///   - reader: what the consumer reads.
  ///   - begin: called before the consumer is returned, with its entry.
  func consumer(
    reading reader: any ReadsAhead, begin: (EntryHandle) -> Void = { _ in }
  ) -> EventConsumer {
    let mailbox = StreamMailbox(
      limit: .max, whenFull: .dropNewest, coalesces: false, drops: nil)
    let registration = addFollower(mailbox, owner: nil)
    begin(registration)
    return EventConsumer(registration, mailbox, finishing.completion, reader: reader)
  }

  /// Adds a subscriber that each delivery tells to read. Its consumer has not started.
  private func addFollower(_ mailbox: Mailbox, owner: AnyObject?) -> EntryHandle {
    mailbox.isFollowing = true
    // It has not started, so nothing reads yet. Before it is in the registry, because it may finish
    // as soon as it is.
    _ = mailbox.lock.withLock { mailbox.state.signal() }
    kinds.add(
      mailbox is InlineMailbox ? SubscriberKinds.handlerWithBuffer : SubscriberKinds.buffer)
    let pipeline = EventPipeline<Event>(filter: nil, start: nil, mailbox: mailbox)
    return registry.add(
      Subscriber(handler: { _ in }, pipeline: pipeline), weakly: owner, mailbox: mailbox)
  }

  /// Sets where a subscriber begins, which is in the registry already: each delivery tells it to read.
  private func begin(
    _ reader: LogReader<Event>, _ start: SubscriptionStart, _ registration: EntryHandle
  ) {
    let isEnded = reader.begin(start)
    // Not `finishing`: the sequencer may still deliver events after that is raised.
    if isEnded, let entry = registration.entry { finish(entry) }
  }

  func requireStart(_ start: SubscriptionStart) {
    guard case .last(let count) = start else { return }
    require(
      count >= 0,
      "\(messagePrefix(name)) a subscription cannot begin with the last \(count) events.")
  }
}

extension LogReader {
  /// The function that passes what is in the log to a handler: what one read returns, as long as its
  /// entry is active and not blocked.
  fileprivate func delivery(
    _ progress: ReadingProgress, _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void
  ) -> HandlerMailbox.Delivery {
    { head in
      { _ in
        self.readToGoal(atMost: Self.share)
        while let event = self.nextRead() {
          handler(event)
          guard head.pointee.isActiveAndUnblocked else { break }
        }
        progress.isIncomplete = !self.isAtGoal
        if self.isAtGoal { self.goal = nil }
      }
    }
  }
}

extension EntryHead {
  /// Whether a handler may be called again in the same invocation: the next element of a drain.
  fileprivate var isActiveAndUnblocked: Bool {
    // Acquiring: as in `Invocation.drain`. The frame holds the entry.
    let state = state.load(ordering: .acquiring)
    return EntryHead.isActive(state) && state & EntryHead.blocked == 0
  }
}
