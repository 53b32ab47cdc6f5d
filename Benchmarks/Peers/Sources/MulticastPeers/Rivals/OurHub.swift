internal import Multicast

/// `EventHub`, with handlers.
final class OurHub: ClosureRival {
  private let hub = EventHub<Event>()
  private let reception: Reception

  init(_ reception: Reception) {
    self.reception = reception
  }

  func add(_ observer: any Observer) -> EventSubscription {
    reception.isWeak ? subscribe(weakly: observer) : subscribe(strongly: observer)
  }

  // Closures, as users write them: a function in a variable would be called through two others.
  private func subscribe(strongly observer: any Observer) -> EventSubscription {
    switch reception.handling {
    case .notify: hub.subscribe { observer.notify($0.value) }
    case .answer: hub.subscribe { $0.tally.pointee &+= observer.answer($0.value) }
    }
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
