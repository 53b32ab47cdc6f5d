/// What waits in a mailbox: a call, or an event, in a box.
///
/// A sender makes one box if anybody has a mailbox, and every mailbox shares it. So mailboxes are
/// free of generics, and a large event is copied once.
@usableFromInline
struct Envelope: Sendable {
  @usableFromInline let box: any AnyObject & Sendable

  @usableFromInline
  init(_ box: any AnyObject & Sendable) {
    self.box = box
  }
}

extension Envelope {
  @inlinable
  init<Event: Sendable>(event: Event) {
    self.init(EventBox(event))
  }

  /// The event that is in the box.
  @inlinable @inline(__always)
  func event<Event: Sendable>(_: Event.Type) -> Event {
    // SAFETY: a mailbox belongs to one hub, and the hub to one type of events.
    unsafeDowncast(box, to: EventBox<Event>.self).event
  }
}

@usableFromInline
final class EventBox<Event: Sendable>: Sendable {
  @usableFromInline let event: Event

  @inlinable
  init(_ event: Event) {
    self.event = event
  }
}
