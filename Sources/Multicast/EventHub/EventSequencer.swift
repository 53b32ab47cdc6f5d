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

  init(replay: Int) {
    self.replay = replay
  }

  /// How many events a sender delivers before it calls handlers.
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
    let (number, forgotten, isOurs) = lock.withLock {
      let (number, forgotten) = record(event)
      pending.append(.event(event, number: number, sender: sender))
      return (number, forgotten, role.take())
    }
    _ = forgotten  // It dies outside the lock.
    let delivered = isOurs ? deliverPending(hub, counting: number) : nil
    return delivered ?? hub.registry.count
  }

  /// Ends `hub`, after the events that were sent before.
  func finish(_ hub: EventHub<Event>) {
    let isOurs = lock.withLock {
      pending.append(.end)
      return role.take()
    }
    if isOurs { deliverPending(hub) }
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

  /// Delivers what is pending, then has handlers called that have something in their buffers.
  ///
  /// - Returns: the number of subscribers that the event with this number has reached, if it was
  ///   delivered here.
  @discardableResult
  private func deliverPending(_ hub: EventHub<Event>, counting number: UInt64? = nil) -> Int? {
    var reached: Int?
    repeat {
      var delivered = 0
      while delivered < Self.share, let next = nextPending() {
        delivered += 1
        switch next {
        case .event(let event, let current, let sender):
          let count = deliver(event, current, sender, through: hub)
          if current == number { reached = count }
        case .end:
          hub.finishSubscribers()
        }
      }
      // Another sender may deliver what is still pending while the handlers run.
      if delivered == Self.share { lock.withLock { _ = role.keep(if: false) } }
      hub.serveHandlers()
    } while resume()
    return reached
  }

  /// - Returns: `nil` if nothing is pending; then no thread has the role.
  private func nextPending() -> Pending? {
    lock.withLock { role.keep(if: !pending.isEmpty) ? pending.popFirst() : nil }
  }

  /// Takes the role again, if something is pending and the role is free.
  private func resume() -> Bool {
    lock.withLock { !pending.isEmpty && role.take() }
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
}
