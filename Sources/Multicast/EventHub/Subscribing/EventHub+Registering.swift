internal import Dispatch
internal import Synchronization

extension EventHub {
  /// Adds the subscriber that `request` describes.
  func subscribe(_ request: SubscriptionRequest<Event>) -> EventSubscription {
    let subscriber = newSubscriber(request)
    if let carried = subscriber.carried {
      // First: a sender that finds the keys in the sequencer's lock finds that there are some.
      kinds.add(SubscriberKinds.carrier)
      sequencer?.carry(carried)
      state.keysForOrigins?.add(carried)
    }
    let registration = register(subscriber)
    if replays, let entry = registration.entry { subscriber.start(entry) }
    return EventSubscription(registration)
  }

  /// Adds a handler that senders call with each event, with nothing between: the usual subscriber,
  /// and the least that one takes.
  ///
  /// - Parameter owner: the object with which the subscription ends.
  /// - Returns: `nil` if something is between: one order of the events, or a measurement.
  func subscribeDirectly(
    _ handler: @escaping @Sendable (Event) -> Void, owner: AnyObject? = nil, origin: Origin
  ) -> EventSubscription? {
    guard sequencer == nil && registry.currentTiming == nil else { return nil }
    kinds.add(SubscriberKinds.handler)
    let registration = registry.add(
      Subscriber(handler: handler, pipeline: nil), weakly: owner, mailbox: nil, origin: origin)
    finishIfRaised(registration)
    return EventSubscription(registration)
  }

  /// The subscriber that `request` describes, with its mailbox.
  private func newSubscriber(_ request: SubscriptionRequest<Event>) -> NewSubscriber<Event> {
    let buffering = request.buffering
    let origin = request.isMeasured ? request.origin : measured(request.origin)
    var subscriber = NewSubscriber(request, origin: origin)
    // A call that the filter leaves out is none.
    let delivery = request.delivery.measured(by: request.isMeasured ? nil : origin.timer)
    switch request.callFilter.map({ delivery.filtered(by: $0) }) ?? delivery {
    case .sender(let inline):
      subscriber.handler = inline
      subscriber.makeIndex = nil
      // With a replay, later events wait for its end.
      guard replays else { break }
      let mailbox = InlineMailbox(drops: dropCounter, whenExhausted: removal)
      subscriber.mailbox = mailbox
      subscriber.start = { mailbox.start($0) }
    case .queue(let queue, let onQueue):
      subscriber.handler = onQueue
      let mailbox = QueueMailbox(
        on: queue, limit: buffering.limit, whenFull: buffering.whenFull, isIdle: !replays,
        drops: dropCounter, whenExhausted: removal)
      subscriber.mailbox = mailbox
      subscriber.start = { mailbox.start($0) }
    case .actor(let home, let onActor):
      subscriber.handler = onActor
      let mailbox = ActorMailbox(
        on: home, limit: buffering.limit, whenFull: buffering.whenFull, isIdle: !replays,
        drops: dropCounter, whenExhausted: removal)
      subscriber.mailbox = mailbox
      subscriber.start = { mailbox.start($0) }
    case .task(let home, let limit, let inTask):
      subscriber.asyncHandler = inTask
      let mailbox = TaskMailbox(
        on: home, limit: buffering.limit, whenFull: buffering.whenFull, isIdle: !replays,
        workers: limit, coalesces: buffering.positions != nil, drops: dropCounter,
        whenExhausted: removal)
      subscriber.mailbox = mailbox
      subscriber.start = { mailbox.start($0, consumers: limit) }
    }
    return subscriber
  }

  /// Whether a new subscriber receives retained events before those that are sent later.
  private var replays: Bool { sequencer?.replays ?? false }

  /// Adds a subscriber, enqueues its replay, and finishes it if the hub has finished.
  func register(_ subscriber: NewSubscriber<Event>) -> EntryHandle {
    let start = sequencer.flatMap { $0.hasStartingPoints ? StartingPoint() : nil }
    let pipeline = subscriber.pipeline(from: start)
    let mailbox = subscriber.mailbox
    mailbox?.isDirect = start == nil && pipeline?.isEmpty == true
    kinds.add(subscriber.kind)
    var isEnded = false
    let registration = registry.add(
      Subscriber(handler: subscriber.handler, pipeline: pipeline), weakly: subscriber.owner,
      mailbox: mailbox, origin: subscriber.origin,
      willInsert: { subscriber.binding?.bind($0) },
      begin: { registration, report in
        if let sequencer {
          isEnded = attach(registration, mailbox, start, subscriber.filter, to: sequencer, report)
        } else if mailbox is StreamMailbox {
          beginning(registration, report)
        } else {
          report()
        }
      })
    if sequencer == nil {
      finishIfRaised(registration)
    } else if isEnded, let entry = registration.entry {
      finish(entry)
    }
    return registration
  }

  /// Gives a new subscriber its place in the order, enqueues the replay that `filter` accepts, and
  /// reports the subscriber: what is sent because of the report comes after the replay.
  ///
  /// The call stack of this thread shows the entry meanwhile, as for every other call of a filter.
  /// So a flush in the filter, or in the `deinit` of an event that leaves, does not wait for what
  /// this subscriber handles only when it has begun. Nor does one in a hook, unless the consumer
  /// has started before: that of a handler in a hub that does not replay.
  ///
  /// - Returns: whether the end may not reach the subscriber.
  private func attach(
    _ registration: EntryHandle, _ mailbox: Mailbox?, _ start: StartingPoint?,
    _ filter: (@Sendable (Event) -> Bool)?, to sequencer: EventSequencer<Event>,
    _ report: () -> Void
  ) -> Bool {
    guard let entry = registration.entry else {
      report()
      return false
    }
    var isEnded = false
    var invocation = Invocation(ThreadCallStack.current)
    invocation.passForMailbox(.passUnretained(entry)) { _ in
      // From now on senders append to the mailbox, whose consumer has not started. The replay,
      // which is older, goes in front.
      var replay: [Envelope]
      (replay, isEnded) = sequencer.attach(start)
      if let filter { replay = replay.filter { filter($0.event(Event.self)) } }
      if let mailbox, !replay.isEmpty {
        let effects = mailbox.withLock { mailbox.state.prepend(replay) }
        for effect in effects { mailbox.perform(effect, for: entry) }
      }
      // What has left is destroyed here.
    }
    let startsLater = sequencer.replays || mailbox is StreamMailbox
    if startsLater { withExtendedLifetime(entry) { report() } }
    invocation.end()
    if invocation.sawDead { registry.pruneAfterInvocation() }
    if !startsLater { report() }
    // Not `state.isRaised`: the sequencer may still deliver events after that.
    return isEnded
  }

  /// Finishes a subscription that another thread may not have found when it finished the hub.
  private func finishIfRaised(_ registration: EntryHandle) {
    // Sequentially consistent: see `finish`.
    guard state.isRaised.load(ordering: .sequentiallyConsistent) else { return }
    // The other thread may not have closed the gate yet. It must be closed before the subscriber
    // ends: code that learns of the end relies on that.
    state.publish()
    if let entry = registration.entry { finish(entry) }
  }

  /// Removes the entry of an exhausted mailbox.
  ///
  /// It retains the registry, which retains the mailbox: a cycle until the removal. The removal
  /// comes at the latest after the hub's `deinit`, which finishes the subscribers.
  var removal: @Sendable (Entry) -> Void {
    { [registry, state] entry in
      let isDead = entry.isDead
      if registry.remove(entry), !isDead { Self.reportEnd(of: entry, state) }
    }
  }

  /// Calls the subscriber's action for the end of its events, unless its actor is gone. The caller
  /// has removed `entry`, whose owner was not gone.
  static func reportEnd(of entry: Entry, _ state: HubState) {
    let pipeline = Entry.value(entry.head, as: Subscriber<Event>.self).pointee.pass { $0.pipeline }
    guard let pipeline, let onEnd = pipeline.onEnd else { return }
    if let mailbox = pipeline.mailbox, mailbox.withLock({ mailbox.isDeserted }) { return }
    let end = pipeline.mailbox?.end ?? .finished
    // A hub that finishes while events wait has not ended a subscription that was disconnected.
    if end != .cancelled { onEnd(end, end == .finished ? state.failure : nil) }
  }
}
