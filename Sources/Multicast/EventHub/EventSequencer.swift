/// Numbers events, keeps the newest, and delivers them one after the other if the order is to be
/// total.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class EventSequencer<Event: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.

  /// What waits for its turn.
  private enum Turn {
    case event(Event, number: UInt64, waiters: SendWaiterList?)
    /// The end of the hub.
    case end
  }

  private let replay: Int
  private let isTotal: Bool
  /// Held while a number is given or the history is read. No user code runs inside.
  private let lock = Lock()
  private var nextNumber: UInt64 = 1
  private var history = RingBuffer<Event>()
  private var turns = RingBuffer<Turn>()
  /// Whether a thread is delivering the turns.
  private var isDelivering = false

  init(replay: Int, isTotal: Bool) {
    self.replay = replay
    self.isTotal = isTotal
  }
}

extension EventSequencer {
  /// Whether new subscribers get events of the past.
  var replays: Bool { replay > 0 }

  /// Sends `event` through `hub`, in its turn.
  @usableFromInline
  func send(_ event: Event, through hub: EventHub<Event>) -> Int {
    guard isTotal else { return hub.deliver(event, number(event).number) }
    let count = hub.registry.count
    takeTurn(event, nil, hub)
    return count
  }

  func send(_ event: Event, waiters: SendWaiterList, through hub: EventHub<Event>) {
    guard isTotal else { return hub.deliver(event, number(event).number, waiters: waiters) }
    takeTurn(event, waiters, hub)
  }

  /// Ends `hub`, after the events that were sent before.
  func finish(_ hub: EventHub<Event>) {
    guard isTotal else { return hub.finishSubscribers() }
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

  /// Gives `event` a number and a place in the history.
  ///
  /// - Returns: the number, and the event that has left the history, to be destroyed outside the
  ///   lock.
  private func number(_ event: Event) -> (number: UInt64, forgotten: Event?) {
    lock.withLock { numberLocked(event) }
  }

  private func numberLocked(_ event: Event) -> (number: UInt64, forgotten: Event?) {
    defer { nextNumber += 1 }
    guard replay > 0 else { return (nextNumber, nil) }
    let forgotten = history.count == replay ? history.popFirst() : nil
    history.append(event)
    return (nextNumber, forgotten)
  }

  /// Queues `event`, and delivers what is queued unless somebody else is doing that.
  private func takeTurn(_ event: Event, _ waiters: SendWaiterList?, _ hub: EventHub<Event>) {
    let (isOurs, forgotten) = lock.withLock {
      let (number, forgotten) = numberLocked(event)
      turns.append(.event(event, number: number, waiters: waiters))
      defer { isDelivering = true }
      return (!isDelivering, forgotten)
    }
    _ = forgotten  // It dies outside the lock.
    if isOurs { deliverTurns(hub) }
  }

  private func deliverTurns(_ hub: EventHub<Event>) {
    while let turn = nextTurn() {
      switch turn {
      case .event(let event, let number, let waiters?):
        hub.deliver(event, number, waiters: waiters)
      case .event(let event, let number, nil):
        _ = hub.deliver(event, number)
      case .end:
        hub.finishSubscribers()
      }
    }
  }

  private func nextTurn() -> Turn? {
    lock.withLock {
      let turn = turns.popFirst()
      if turn == nil { isDelivering = false }
      return turn
    }
  }
}
