internal import Foundation

/// Foundation's `NotificationCenter`, with blocks. The event is the notification's object.
final class Notifications: Rival {
  private static let name = Notification.Name("event")

  private let center = NotificationCenter()
  private let reception: Reception

  init(_ reception: Reception) {
    self.reception = reception
  }

  func add(_ observer: any Observer) -> any NSObjectProtocol {
    let handler = reception.handler(observer)
    return center.addObserver(forName: Self.name, object: nil, queue: nil) { notification in
      guard let sender = notification.object as? Sender else { return }
      handler(sender.event)
    }
  }

  func remove(_ token: any NSObjectProtocol) { center.removeObserver(token) }

  func notify(_ iterations: Int) { _ = answers(iterations) }

  func answers(_ iterations: Int) -> Int {
    let sender = Sender()
    for _ in 0..<iterations { center.post(name: Self.name, object: sender) }
    return sender.event.tally.pointee
  }
}

/// An event as an object: a notification takes no other.
private final class Sender {
  let event: Event

  init() {
    let tally = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    tally.initialize(to: 0)
    event = Event(value: 1, tally: tally)
  }

  deinit { event.tally.deallocate() }
}
