/// Numbers events, keeps those that the hub retains, and delivers all events in one order.
///
/// One sender at a time delivers; a concurrent sender leaves its event to that sender and returns.
/// In a hub with a replay every subscriber has a buffer. Delivery then only appends, and senders
/// call handlers afterwards: a slow handler delays only the sender that calls it.
///
/// An event is in the log before it is delivered. So a subscriber that reads the log when a
/// delivery tells it to finds that event there, unless it has left again.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class EventSequencer<Event: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.
  //
  // SAFETY, of unchecked exclusivity: for the same reason no two threads access anything at once,
  // and no critical section accesses a property inside another access to it.

  private let replay: Int
  let rules: RetentionRules<Event>
  private let opening: EventOpening<Event>?
  /// Delivers an event; see ``EventHub/deliverForwarding(_:_:_:waiters:by:)``.
  private let delivery: EventHub<Event>.Delivery?
  /// Calls a handler that receives positions.
  let callPositioned: PositionedEvent<Event>.Call
  /// That of the hub.
  private let state: HubState
  /// Guards the numbers, the log and the events to be delivered. No user code runs inside.
  let lock = Lock()
  @exclusivity(unchecked) private var nextNumber: UInt64 = 1
  /// The events that are retained. Inside the lock.
  @exclusivity(unchecked) var log: RetainedLog
  @exclusivity(unchecked) private var pending = RingBuffer<PendingDelivery>()
  /// The number of events in `pending` for which no space is reserved.
  @exclusivity(unchecked) private var pendingWithoutSpace = 0
  /// Whether an event for which no space is reserved is being delivered.
  @exclusivity(unchecked) private var deliversWithoutSpace = false
  /// The role of delivering what is pending.
  @exclusivity(unchecked) private(set) var role = ExclusiveRole()
  /// The thread that has the role, for threads that flush.
  private let deliveryRole = DeliveryRole()
  /// The number of elements of `pending` that were taken out.
  @exclusivity(unchecked) private var taken = 0
  @exclusivity(unchecked) private var flushes = PositionedFlushes()
  /// Whether the end is pending or was delivered: no event follows it.
  @exclusivity(unchecked) private(set) var isEnded = false
  /// Whether the end was taken out of `pending`: everything before it was prepared.
  @exclusivity(unchecked) private var isEndTaken = false
  /// The keys whose values some subscribers see. Another thread may deliver an event, so they are
  /// captured when it is sent.
  @exclusivity(unchecked) var carried: CarriedKeySet.Captures = [:]

  /// - Parameters:
  ///   - initialValue: the first event to replay, sent to no subscriber.
  ///   - retention: which events to keep; at least the replay if it is `none`.
  ///   - epoch: that of the positions; `nil`: a random one.
  ///   - opening: how subscriptions begin, if the sequencer keeps no events.
  ///   - delivery: see ``EventHub/delivery``.
  ///   - callPositioned: see ``PositionedEvent/call``.
  ///   - state: that of the hub.
  init(
    replay: Int, initialValue: Event? = nil, retention: Retention<Event> = .none,
    epoch: UInt64? = nil, opening: EventOpening<Event>? = nil,
    delivery: EventHub<Event>.Delivery?, callPositioned: @escaping PositionedEvent<Event>.Call,
    state: HubState
  ) {
    self.replay = replay
    self.opening = opening
    self.delivery = delivery
    self.callPositioned = callPositioned
    self.state = state
    let retention = retention.isNone ? .last(replay) : retention
    rules = RetentionRules(retention, epoch: epoch)
    log = RetainedLog(
      count: retention.count, bytes: retention.bytes, age: retention.age,
      isMeasured: retention.size != nil)
    if let initialValue {
      let retained = rules.retained(initialValue)
      var garbage = RetainedLog.Garbage()
      log.append(retained.envelope, size: retained.size, now: retained.now, &garbage)
      nextNumber += 1
      applyUserRules(to: initialValue, 1)
    }
  }

  /// If more events than this are pending, a sender that leaves its event calls handlers itself.
  private static var pendingLimit: Int { 256 }
}

extension EventSequencer {
  /// Whether subscribers begin at a number. With an `opening`, each delivery that finds a
  /// subscriber in the registry includes it, also of an event that was sent before and is prepared
  /// later.
  var hasStartingPoints: Bool { opening == nil }

  /// Whether new subscribers receive past events, or a first one.
  var replays: Bool { replay > 0 || opening != nil }

  /// Sends `event` through `hub`, after the events that were sent before.
  ///
  /// - Parameter waiters: where a sender that can wait finds the full buffers.
  /// - Returns: the number of subscribers that received the event; if another sender is delivering,
  ///   the number of subscriptions; 0 if the event is refused because the hub has ended.
  @usableFromInline @discardableResult
  func send(
    _ event: Event, waiters: SendWaiterList? = nil, through hub: EventHub<Event>
  ) -> Int {
    if let sent = post(event, waiters, through: hub) { return sent.reached }
    let forwarded = hub.forwarder?.forward(event, waiters)
    guard let waiters else { return forwarded ?? hub.refuse() }
    waiters.completeDelivery(isTaken: false)
    return forwarded ?? 0
  }

  /// Sends `event` through `hub`, unless that has ended.
  ///
  /// - Parameter next: runs once, when the event has its place in the order and before the caller
  ///   delivers anything.
  /// - Returns: the number of the event, and that of the subscribers as
  ///   ``send(_:waiters:through:)`` does; `nil` if the hub has ended.
  func post(
    _ event: Event, _ waiters: SendWaiterList? = nil, through hub: EventHub<Event>,
    next: () -> Void = {}
  ) -> (number: UInt64, reached: Int)? {
    let retained = rules.retained(event)
    let (added, values) = add(retained, needsSpace: true, hub) { .event($0, $1, waiters: waiters) }
    guard let added, added.isOurs else {
      next()
      return added.map { ($0.sent.number, leave($0, hub)) }
    }
    let reached = performRole(hub) {
      next()
      return deliver(event, added.sent, values, waiters, hub)
    }
    return (added.sent.number, reached)
    // What has left the log is destroyed here, outside the lock.
  }

  /// Leaves an event to the sender that delivers.
  ///
  /// - Returns: the number of subscribers that the event may reach.
  private func leave(_ added: AddedEvent, _ hub: EventHub<Event>) -> Int {
    // The sender that delivers calls handlers only when nothing is pending any more.
    if added.isMany { hub.serveHandlers() }
    return state.total
  }

  /// Ends `hub`, after the events that were sent before.
  func finish(_ hub: EventHub<Event>) {
    let isOurs = lock.withLock {
      isEnded = true
      pending.append(.end)
      return role.take()
    }
    if isOurs { performRole(hub) }
  }

  /// Sets the starting point of a new subscriber, which is in the registry already: delivery begins
  /// with the events after the returned replay.
  ///
  /// - Parameter start: what to set; `nil` if the sequencer has no starting points.
  /// - Returns: the replay, and whether the end is pending or delivered, so that it may not reach
  ///   the subscriber.
  func attach(_ start: StartingPoint?) -> (replay: [Envelope], isEnded: Bool) {
    if let opening {
      return ([Envelope(event: opening.firstEvent)], lock.withLock { isEndTaken })
    }
    var items = RingBuffer<RetainedLog.Item>()
    let hasEnded = withTrimmedLog {
      start?.first = nextNumber
      _ = log.read(after: log.number(beforeLast: replay), atMost: replay, into: &items)
      return isEnded
    }
    return ((0..<items.count).map { items[$0].envelope }, hasEnded)
  }

  /// Calls the handler of `entry`, which has no buffer, with the first event, at a place in the
  /// order: at the beginning, and after a block.
  ///
  /// - Returns: `false` if the hub has ended, so that the end may come first.
  func open(_ entry: Entry, through hub: EventHub<Event>) -> Bool {
    guard opening != nil else { return false }
    let isOurs = lock.withLock { () -> Bool? in
      guard !isEnded else { return nil }
      pending.append(.opening(entry))
      return role.take()
    }
    if isOurs == true { performRole(hub) }
    return isOurs != nil
  }

  /// Numbers an event and adds it to the log, and to what is pending if another thread delivers.
  /// Inside the lock.
  ///
  /// - Parameters:
  ///   - retained: the event as the log gets it, if the hub retains.
  ///   - needsSpace: whether no space is reserved for it.
  ///   - makePending: the event with its number, to be pending.
  /// - Returns: `nil` if the hub has ended.
  func add(
    _ retained: RetainedEvent, needsSpace: Bool, _ makePending: (SentEvent) -> PendingDelivery
  ) -> AddedEvent? {
    guard !isEnded else { return nil }
    var garbage = RetainedLog.Garbage()
    if !rules.isNone {
      log.append(retained.envelope, size: retained.size, now: retained.now, &garbage)
    }
    let sent = SentEvent(envelope: retained.envelope, number: nextNumber)
    nextNumber += 1
    let isOurs = role.take()
    // Nothing is pending while the role is free, so the event is the next one.
    if isOurs {
      taken &+= 1
      deliversWithoutSpace = needsSpace
    } else {
      pending.append(makePending(sent))
      if needsSpace { pendingWithoutSpace += 1 }
    }
    return AddedEvent(
      sent: sent, isOurs: isOurs, isMany: pending.count > Self.pendingLimit, garbage: garbage)
  }

  /// Delivers the caller's event, then what is pending, and gives up the role, which the caller
  /// has. Then calls the handlers that have events in their buffers.
  ///
  /// - Parameter first: delivers the caller's event; nothing if that is pending.
  /// - Returns: what `first` returns.
  @discardableResult
  private func performRole(_ hub: EventHub<Event>, first: () -> Int = { 0 }) -> Int {
    let thread = ThreadCallStack.current
    deliveryRole.begin(on: thread)
    let reached = first()
    deliverPending(hub, thread)
    return reached
  }

  /// Delivers what is pending, then calls the handlers that have events in their buffers.
  private func deliverPending(_ hub: EventHub<Event>, _ thread: ThreadCallStack.Pointer) {
    while let next = takePending(thread) {
      switch next {
      case .event(let sent, let values, let waiters):
        deliver(sent.envelope.event(Event.self), sent, values, waiters, hub)
      case .planned(let sent, let values, let plan):
        deliverPlanned(sent.envelope.event(Event.self), sent, values, plan, hub)
      case .opening(let entry):
        if let opening { hub.open(entry, opening) }
      case .flushed(let latches):
        for latch in latches { latch.countDown() }
      case .end:
        hub.finishSubscribers()
      }
    }
    // Only now: otherwise what is pending would wait for a slow handler too.
    hub.serveHandlers()
  }

  /// Delivers an event.
  ///
  /// - Returns: the number of subscribers that it has reached.
  @discardableResult
  private func deliver(
    _ event: Event, _ sent: SentEvent, _ values: CarriedValues?, _ waiters: SendWaiterList?,
    _ hub: EventHub<Event>
  ) -> Int {
    var count = 0
    prepare(event, sent) { event, envelope in
      deliveryRole.delivering {
        values.run {
          count = hub.deliverForwarding(
            event, sent.number, envelope, waiters: waiters, by: delivery)
        }
      }
    }
    // Sent before the end, so it counts as taken even if no subscriber wants it.
    waiters?.completeDelivery(isTaken: true)
    return count
  }

  /// As ``deliver(_:_:_:_:_:)``, as `plan` says, and to subscribers about which it says nothing.
  @discardableResult
  private func deliverPlanned(
    _ event: Event, _ sent: SentEvent, _ values: CarriedValues?, _ plan: SendPlan,
    _ hub: EventHub<Event>
  ) -> Int {
    var count = 0
    prepare(event, sent) { event, envelope in
      deliveryRole.delivering {
        values.run {
          count = hub.deliverPlanned(event, sent.number, envelope, plan, includesNew: true)
        }
      }
    }
    return count
  }

  /// Prepares an event that was sent: applies the rules of the retention that run user code, and
  /// calls `body` with the event to deliver, and with its envelope unless that is another event.
  private func prepare(
    _ event: Event, _ sent: SentEvent, _ body: (Event, Envelope?) -> Void
  ) {
    if rules.hasUserRules { applyUserRules(to: event, sent.number) }
    if let opening {
      body(opening.prepare(event, sent.number), nil)
    } else {
      body(event, sent.envelope)
    }
  }

  /// The next element of what is pending, after completed flushes. If there is none, the role was
  /// given up.
  private func takePending(_ thread: ThreadCallStack.Pointer) -> PendingDelivery? {
    lock.withLockAfterPolling {
      // What this thread took before is delivered.
      deliversWithoutSpace = false
      if !flushes.isEmpty {
        let done = flushes.takeCompleted(before: taken)
        if !done.isEmpty { return .flushed(done) }
      }
      guard role.keep(if: !pending.isEmpty) else {
        deliveryRole.end(on: thread)
        return nil
      }
      taken &+= 1
      let next = pending.popFirst()
      deliversWithoutSpace = next?.needsSpace == true
      if deliversWithoutSpace { pendingWithoutSpace -= 1 }
      if case .end = next { isEndTaken = true }
      return next
    }
  }
}

// MARK: - Space

extension EventSequencer {
  /// Sends `event` through `hub` as `plan` says, and to subscribers about which it says nothing.
  ///
  /// - Returns: `false` if the hub has ended.
  func send(_ event: Event, _ plan: SendPlan, through hub: EventHub<Event>) -> Bool {
    let retained = rules.retained(event)
    let (added, values) = add(retained, needsSpace: !plan.hasReservations, hub) {
      .planned($0, $1, plan)
    }
    guard let added else {
      plan.release()
      return false
    }
    if added.isOurs {
      performRole(hub) { deliverPlanned(event, added.sent, values, plan, hub) }
    } else {
      _ = leave(added, hub)
    }
    return true
  }

  /// The number of events that were sent before, may not be in every buffer, and have no reserved
  /// space; and the number of all deliveries that have begun.
  var eventsAhead: (count: Int, begun: Int) {
    // While this thread calls a handler of this hub without a buffer, its event is in every buffer.
    let isInHandler =
      DeliveryRole.ofThisThread.contains { $0 === deliveryRole } && deliveryRole.isCallingHandler
    return lock.withLock {
      (pendingWithoutSpace + (deliversWithoutSpace && !isInHandler ? 1 : 0), taken)
    }
  }
}

// MARK: - Flushing

extension EventSequencer {
  /// Begins a flush: `latch` is counted down when everything sent before was delivered, which means
  /// appended to buffers or passed to handlers without one.
  ///
  /// Excludes deliveries by this thread, which wait for it, and by threads that `thread` excludes.
  func flush(_ latch: FlushLatch, by thread: FlushingThread) {
    guard !thread.roles.contains(where: { $0 === deliveryRole }), !thread.excludes(deliveryRole)
    else { return }
    latch.add()
    let isPending = lock.withLock {
      guard role.isTaken else { return false }
      flushes.add(latch, at: taken + pending.count)
      return true
    }
    if !isPending { latch.countDown() }
  }

  /// Ends the flush of `latch`, which will not be counted down. The caller keeps it alive.
  func withdraw(_ latch: FlushLatch) {
    lock.withLock { flushes.withdraw(latch) }
  }
}
