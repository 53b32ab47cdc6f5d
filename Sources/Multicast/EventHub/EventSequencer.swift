/// Numbers events, keeps the newest, and delivers them one after the other: one order for all
/// subscribers.
///
/// One sender at a time delivers. A sender that arrives in the meantime leaves its event, and goes.
/// In a hub that replays every subscriber has a buffer, so delivering is appending, and the handlers
/// that senders call are called afterwards: a slow one holds up the sender that calls it, and
/// nothing else.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class EventSequencer<Event: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.

  /// What waits for its turn.
  private enum Pending {
    case event(Event, number: UInt64, sender: SendWaiterList?)
    /// The end of the hub.
    case end
  }

  private let replay: Int
  /// Held while a number is given or the history is read. No user code runs inside.
  private let lock = Lock()
  private var nextNumber: UInt64 = 1
  private var history = RingBuffer<Event>()
  private var pending = RingBuffer<Pending>()
  /// Delivering what is pending.
  private var role = ExclusiveRole()
  /// Whether the end is pending, or was delivered: nothing comes behind it.
  private var isEnded = false

  init(replay: Int) {
    self.replay = replay
  }

  /// How many events may be pending before a sender that leaves one calls handlers itself.
  private static var share: Int { 256 }
}

extension EventSequencer {
  /// Whether new subscribers get events of the past.
  var replays: Bool { replay > 0 }

  /// Sends `event` through `hub`, behind the events that were sent before.
  ///
  /// - Parameter sender: waits for room, if it can. It is told when the event was delivered.
  /// - Returns: the number of subscribers that were reached; if another sender is delivering, the
  ///   number of subscriptions; 0 if the event is refused, because the hub has ended.
  @usableFromInline @discardableResult
  func send(
    _ event: Event, sender: SendWaiterList? = nil, through hub: EventHub<Event>
  ) -> Int {
    switch lock.withLock({ enqueue(event, sender) }) {
    case .refused:
      guard let sender else { return hub.refuse() }
      sender.delivered(isTaken: false)
      return 0
    case .enqueued(let number, let forgotten, isOurs: true, isMany: _):
      withExtendedLifetime(forgotten) {}  // It dies outside the lock.
      return deliverPending(hub, counting: number) ?? hub.registry.count
    case .enqueued(_, let forgotten, isOurs: false, let isMany):
      withExtendedLifetime(forgotten) {}
      // The sender that delivers calls handlers only when nothing is pending any more.
      if isMany { hub.serveHandlers() }
      return hub.registry.count
    }
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

  /// Lets a subscriber in: it gets the events that are returned, and live those that come after
  /// them.
  ///
  /// - Returns: the events, and whether no more will come. Otherwise the end, which is delivered like
  ///   an event, finds the subscriber: that was added before this.
  func admit(_ start: StartingPoint) -> (replay: [Event], isEnded: Bool) {
    lock.withLock {
      start.first = nextNumber
      return ((0..<history.count).map { history[$0] }, isEnded)
    }
  }

  /// What becomes of an event that a sender brings.
  private enum Arrival {
    /// Nothing: the hub has ended.
    case refused
    /// It is pending. What has left the history is to be destroyed outside the lock; `isOurs`:
    /// whether the sender has the role now; `isMany`: whether more than the share is pending.
    case enqueued(number: UInt64, forgotten: Event?, isOurs: Bool, isMany: Bool)
  }

  /// Gives `event` a number and a place in the history. Inside the lock.
  private func enqueue(_ event: Event, _ sender: SendWaiterList?) -> Arrival {
    guard !isEnded else { return .refused }
    let number = nextNumber
    nextNumber += 1
    var forgotten: Event?
    if replay > 0 {
      if history.count == replay { forgotten = history.popFirst() }
      history.append(event)
    }
    pending.append(.event(event, number: number, sender: sender))
    let isOurs = role.take()
    return .enqueued(
      number: number, forgotten: forgotten, isOurs: isOurs, isMany: pending.count > Self.share)
  }

  /// Delivers what is pending, then has handlers called that have something in their buffers.
  ///
  /// - Returns: the number of subscribers that the event with this number has reached, if it was
  ///   delivered here.
  @discardableResult
  private func deliverPending(_ hub: EventHub<Event>, counting number: UInt64? = nil) -> Int? {
    var reached: Int?
    while let next = lock.withLock({ role.keep(if: !pending.isEmpty) ? pending.popFirst() : nil }) {
      switch next {
      case .event(let event, let current, let sender):
        let count = hub.deliver(event, current, sender: sender)
        // It was sent before the end, so it counts as taken even if no subscriber wants it.
        sender?.delivered(isTaken: true)
        if current == number { reached = count }
      case .end:
        hub.finishSubscribers()
      }
    }
    // Not before: what was pending would wait for a slow handler too.
    hub.serveHandlers()
    return reached
  }
}
