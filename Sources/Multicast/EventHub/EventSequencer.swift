/// Numbers events, keeps the newest for the replay, and delivers all events in one order.
///
/// One sender at a time delivers; a concurrent sender leaves its event to that sender and returns.
/// In a hub with a replay every subscriber has a buffer. Delivery then only appends, and senders
/// call handlers afterwards: a slow handler delays only the sender that calls it.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class EventSequencer<Event: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  private enum Pending {
    case event(Event, number: UInt64, CarriedValues?, waiters: SendWaiterList?)
    /// An event for which space is reserved.
    case planned(Event, number: UInt64, CarriedValues?, SendPlan)
    /// The first event of a handler without a buffer.
    case opening(Entry, Event)
    /// Flushes that are complete.
    case flushed([FlushLatch])
    /// The end of the hub.
    case end
  }

  private let replay: Int
  private let opening: EventOpening<Event>?
  private let subscriptions: SubscriptionCounter
  /// Guards the numbers, the history and the events to be delivered. No user code runs inside.
  private let lock = Lock()
  private var nextNumber: UInt64 = 1
  private var history = RingBuffer<Event>()
  private var pending = RingBuffer<Pending>()
  /// The role of delivering what is pending.
  private var role = ExclusiveRole()
  /// The thread that has the role, for threads that flush.
  private let deliveryRole = DeliveryRole()
  /// The number of elements of `pending` that were taken out.
  private var taken = 0
  private var flushes = PositionedFlushes()
  /// Whether the end is pending or was delivered: no event follows it.
  private var isEnded = false
  /// Whether the end was taken out of `pending`: everything before it was prepared.
  private var isEndTaken = false
  /// The keys whose values some subscribers see. Another thread may deliver an event, so they are
  /// captured when it is sent.
  private var carried: [ObjectIdentifier: @Sendable () -> CarriedValues.Binding] = [:]

  /// - Parameters:
  ///   - initialValue: the first event to replay, sent to no subscriber.
  ///   - opening: how subscriptions begin, if the sequencer keeps no events.
  ///   - subscriptions: counts those of the hub.
  init(
    replay: Int, initialValue: Event? = nil, opening: EventOpening<Event>? = nil,
    subscriptions: SubscriptionCounter = SubscriptionCounter()
  ) {
    self.replay = replay
    self.opening = opening
    self.subscriptions = subscriptions
    if let initialValue { history.append(initialValue) }
  }

  /// If more events than this are pending, a sender that leaves its event calls handlers itself.
  private static var pendingLimit: Int { 256 }
}

extension EventSequencer {
  /// Whether each subscriber receives one event first, and no other past ones.
  var hasFirstEvent: Bool { opening != nil }

  /// Whether new subscribers receive past events, or a first one.
  var replays: Bool { replay > 0 || opening != nil }

  /// The newest event that is kept for the replay.
  var newest: Event? {
    lock.withLock { history.isEmpty ? nil : history[history.count - 1] }
  }

  /// Sends `event` through `hub`, after the events that were sent before.
  ///
  /// - Parameter waiters: where a sender that can wait finds the full buffers.
  /// - Returns: the number of subscribers that received the event; if another sender is delivering,
  ///   the number of subscriptions; 0 if the event is refused because the hub has ended.
  @usableFromInline @discardableResult
  func send(
    _ event: Event, waiters: SendWaiterList? = nil, through hub: EventHub<Event>
  ) -> Int {
    let values = captureValues(hub)
    guard
      let (evicted, isOurs, isMany) = lock.withLock({ enqueue(event, values, waiters, nil) })
    else {
      let forwarded = hub.forward?(event, waiters)
      guard let waiters else { return forwarded ?? hub.refuse() }
      waiters.completeDelivery(isTaken: false)
      return forwarded ?? 0
    }
    withExtendedLifetime(evicted) {}  // Destroyed outside the lock.
    if isOurs { return deliverPending(hub) }
    // The sender that delivers calls handlers only when nothing is pending any more.
    if isMany { hub.serveHandlers() }
    return subscriptions.total
  }

  /// Ends `hub`, after the events that were sent before.
  func finish(_ hub: EventHub<Event>) {
    let isOurs = lock.withLock {
      isEnded = true
      pending.append(.end)
      return role.take()
    }
    if isOurs { deliverPending(hub) }
  }

  /// Sets the starting point of a new subscriber, which is in the registry already: delivery begins
  /// with the events after the returned replay.
  ///
  /// - Returns: the replay, and whether the end is pending or delivered, so that it may not reach
  ///   the subscriber.
  ///
  /// With an `opening`, the starting point is 0: each delivery that finds the subscriber in the
  /// registry includes it, also of an event that was sent before and is prepared later.
  func attach(_ start: StartingPoint) -> (replay: [Event], isEnded: Bool) {
    lock.withLock {
      if let opening { return ([opening.firstEvent], isEndTaken) }
      start.first = nextNumber
      return ((0..<history.count).map { history[$0] }, isEnded)
    }
  }

  /// Calls the handler of `entry`, which has no buffer, with the first event, at a place in the order.
  ///
  /// - Returns: `false` if the hub has ended, so that the end may come first.
  func open(_ entry: Entry, through hub: EventHub<Event>) -> Bool {
    guard let opening else { return false }
    let isOurs = lock.withLock { () -> Bool? in
      guard !isEnded else { return nil }
      pending.append(.opening(entry, opening.firstEvent))
      return role.take()
    }
    if isOurs == true { deliverPending(hub) }
    return isOurs != nil
  }

  /// Captures the values of `keys` with each event from now on.
  func carry(_ keys: CarriedKeys) {
    lock.withLock {
      for (key, capture) in keys.captureEach { carried[key] = carried[key] ?? capture }
    }
  }

  /// The values in the current task that subscribers see.
  private func captureValues(_ hub: EventHub<Event>) -> CarriedValues? {
    guard hub.kinds.hasCarriers else { return nil }
    let keys = lock.withLock { carried }
    return CarriedValues(bindings: keys.values.map { $0() })
  }

  /// Numbers `event` and adds it to the history and to what is pending. Inside the lock.
  ///
  /// - Returns: the event that left the history, whether the sender has the role now, and whether
  ///   more than the limit is pending; `nil` if the hub has ended.
  private func enqueue(
    _ event: Event, _ values: CarriedValues?, _ waiters: SendWaiterList?, _ plan: SendPlan?
  ) -> (evicted: Event?, isOurs: Bool, isMany: Bool)? {
    guard !isEnded else { return nil }
    var evicted: Event?
    if replay > 0 {
      if history.count == replay { evicted = history.popFirst() }
      history.append(event)
    }
    pending.append(
      plan.map { .planned(event, number: nextNumber, values, $0) }
        ?? .event(event, number: nextNumber, values, waiters: waiters))
    nextNumber += 1
    let isOurs = role.take()
    return (evicted, isOurs, pending.count > Self.pendingLimit)
  }

  /// Delivers what is pending, then calls the handlers that have events in their buffers.
  ///
  /// - Returns: the number of subscribers that received the first event: the caller's own, because
  ///   nothing is pending while the role is free.
  @discardableResult
  private func deliverPending(_ hub: EventHub<Event>) -> Int {
    var reached: Int?
    let thread = ThreadCallStack.current
    deliveryRole.begin(on: thread)
    while let next = takePending(thread) {
      switch next {
      case .event(let sent, let number, let values, let waiters):
        var count = 0
        let event = opening?.prepare(sent, number) ?? sent
        values.run { count = hub.deliverForwarding(event, number, waiters: waiters) }
        // Sent before the end, so it counts as taken even if no subscriber wants it.
        waiters?.completeDelivery(isTaken: true)
        if reached == nil { reached = count }
      case .planned(let sent, let number, let values, let plan):
        var count = 0
        let event = opening?.prepare(sent, number) ?? sent
        values.run { count = hub.deliver(event, number, plan, includesNew: true) }
        if reached == nil { reached = count }
      case .opening(let entry, let event):
        hub.open(entry, with: event)
      case .flushed(let latches):
        for latch in latches { latch.countDown() }
      case .end:
        hub.finishSubscribers()
      }
    }
    // Only now: otherwise what is pending would wait for a slow handler too.
    hub.serveHandlers()
    return reached ?? 0
  }

  /// The next element of what is pending, after completed flushes. If there is none, the role was
  /// given up.
  private func takePending(_ thread: ThreadCallStack.Pointer) -> Pending? {
    lock.withLock {
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
      if case .end = next { isEndTaken = true }
      return next
    }
  }
}

// MARK: - Trying

extension EventSequencer {
  /// Sends `event` through `hub` as ``send(_:waiters:through:)`` does, if every buffer has space for
  /// it beside the events that were sent before.
  ///
  /// - Returns: whether it was sent.
  func trySend(_ event: Event, through hub: EventHub<Event>) -> Bool {
    // Inside a handler without a buffer, the event of its call is in every buffer.
    let isInHandler =
      DeliveryRole.ofThisThread.contains { $0 === deliveryRole }
      && FlushingThread.isInHandlerWithoutBuffer
    let others = lock.withLock { pending.count + (role.isTaken && !isInHandler ? 1 : 0) }
    guard let plan = hub.reserve(event, beside: others) else { return false }
    let values = captureValues(hub)
    guard
      let (evicted, isOurs, isMany) = lock.withLock({ enqueue(event, values, nil, plan) })
    else {
      plan.release()
      hub.refuse()
      return false
    }
    withExtendedLifetime(evicted) {}  // Destroyed outside the lock.
    if isOurs { deliverPending(hub) } else if isMany { hub.serveHandlers() }
    return true
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
