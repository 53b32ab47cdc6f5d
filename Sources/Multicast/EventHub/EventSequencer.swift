/// Numbers events, keeps the newest, and delivers them one after the other if the order is to be
/// total.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class EventSequencer<Event: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.

  /// An event that waits for its turn.
  private struct Turn {
    let event: Event
    let number: UInt64
    let waiters: SendWaiterList?
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
      turns.append(Turn(event: event, number: number, waiters: waiters))
      defer { isDelivering = true }
      return (!isDelivering, forgotten)
    }
    _ = forgotten  // It dies outside the lock.
    guard isOurs else { return }
    while let turn = nextTurn() {
      if let waiters = turn.waiters {
        hub.deliver(turn.event, turn.number, waiters: waiters)
      } else {
        _ = hub.deliver(turn.event, turn.number)
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
