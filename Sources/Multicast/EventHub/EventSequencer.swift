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
  private enum Turn {
    case event(Event, number: UInt64, sender: SendWaiterList?)
    /// The end of the hub.
    case end
  }

  private let replay: Int
  /// Held while a number is given or the history is read. No user code runs inside.
  private let lock = Lock()
  private var nextNumber: UInt64 = 1
  private var history = RingBuffer<Event>()
  private var turns = RingBuffer<Turn>()
  /// Whether a thread is delivering the turns.
  private var isDelivering = false

  init(replay: Int) {
    self.replay = replay
  }

  /// How many turns a sender delivers before it calls handlers.
  private static var share: Int { 256 }
}

extension EventSequencer {
  /// Whether new subscribers get events of the past.
  var replays: Bool { replay > 0 }

  /// Sends `event` through `hub`, in its turn.
  ///
  /// - Parameter sender: waits for room, if it can. It is told when the event was delivered.
  /// - Returns: how many subscribers were reached, or, if another sender is delivering, how many
  ///   subscriptions there are.
  @usableFromInline @discardableResult
  func send(
    _ event: Event, sender: SendWaiterList? = nil, through hub: EventHub<Event>
  ) -> Int {
    let (number, forgotten, isNext, isOurs) = lock.withLock {
      let (number, forgotten) = record(event)
      let isNext = !isDelivering && turns.isEmpty
      if !isNext { turns.append(.event(event, number: number, sender: sender)) }
      defer { isDelivering = true }
      return (number, forgotten, isNext, !isDelivering)
    }
    _ = forgotten  // It dies outside the lock.
    var delivered: Int?
    if isNext { delivered = deliver(event, number, sender, through: hub) }
    if isOurs { deliverTurns(hub) }
    return delivered ?? hub.registry.count
  }

  /// Ends `hub`, after the events that were sent before.
  func finish(_ hub: EventHub<Event>) {
    let isOurs = lock.withLock {
      turns.append(.end)
      defer { isDelivering = true }
      return !isDelivering
    }
    if isOurs { deliverTurns(hub) }
  }

  /// Lets a subscriber in: it gets the events that are returned, and live those that come after
  /// them.
  func admit(_ start: StartingPoint) -> [Event] {
    lock.withLock {
      start.first = nextNumber
      return (0..<history.count).map { history[$0] }
    }
  }

  /// Gives `event` a number and a place in the history. Inside the lock.
  ///
  /// - Returns: the number, and the event that has left the history, to be destroyed outside the
  ///   lock.
  private func record(_ event: Event) -> (number: UInt64, forgotten: Event?) {
    defer { nextNumber += 1 }
    guard replay > 0 else { return (nextNumber, nil) }
    let forgotten = history.count == replay ? history.popFirst() : nil
    history.append(event)
    return (nextNumber, forgotten)
  }

  /// Delivers what waits, then has handlers called that have something in their buffers.
  private func deliverTurns(_ hub: EventHub<Event>) {
    repeat {
      deliverShare(hub)
      hub.serveHandlers()
    } while resume()
  }

  /// Delivers until nothing waits, or the share is used up. Then nobody is delivering.
  private func deliverShare(_ hub: EventHub<Event>) {
    for _ in 0..<Self.share {
      switch nextTurn() {
      case .event(let event, let number, let sender):
        _ = deliver(event, number, sender, through: hub)
      case .end:
        hub.finishSubscribers()
      case nil:
        return
      }
    }
    lock.withLock { isDelivering = false }
  }

  /// - Returns: the number of subscribers that were reached.
  private func deliver(
    _ event: Event, _ number: UInt64, _ sender: SendWaiterList?, through hub: EventHub<Event>
  ) -> Int {
    let delivered = hub.deliver(event, number, sender: sender)
    if let sender {
      sender.delivered(isTaken: delivered > 0)
    } else if delivered == 0 && !replays {
      hub.noteUndelivered()
    }
    return delivered
  }

  /// - Returns: `nil` if nothing waits; then no thread is delivering.
  private func nextTurn() -> Turn? {
    lock.withLock {
      let turn = turns.popFirst()
      if turn == nil { isDelivering = false }
      return turn
    }
  }

  /// Takes the role of the sender that delivers again, if something waits and the role is free.
  private func resume() -> Bool {
    lock.withLock {
      guard !isDelivering, !turns.isEmpty else { return false }
      isDelivering = true
      return true
    }
  }
}
