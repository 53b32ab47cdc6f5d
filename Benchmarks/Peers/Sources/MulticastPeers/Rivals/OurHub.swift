internal import Multicast

/// `EventHub`, with handlers.
final class OurHub: ClosureRival {
  private let hub = EventHub<Event>()
  private let reception: Reception

  init(_ reception: Reception) {
    self.reception = reception
  }

  func add(_ observer: any Observer) -> EventSubscription {
    reception.isWeak
      ? subscribe(weakly: observer) : hub.subscribe(reception.handler(observer))
  }

  private func subscribe(weakly observer: some Observer) -> EventSubscription {
    switch reception.handling {
    case .notify: hub.subscribe(with: observer) { $0.notify($1.value) }
    case .answer:
      hub.subscribe(with: observer) { $1.tally.pointee &+= $0.answer($1.value) }
    }
  }

  func remove(_ token: EventSubscription) { token.cancel() }

  func send(_ event: Event) { hub.send(event) }
}
