/// A boxed call or event: the element of a mailbox.
///
/// A sender creates at most one box, which all mailboxes share. So mailboxes are not generic, and a
/// large event is copied once.
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

  /// The event in the box.
  @inlinable @inline(__always)
  func event<Event: Sendable>(_: Event.Type) -> Event {
    // SAFETY: a mailbox belongs to one hub, and a hub has one event type.
    unsafeDowncast(box, to: EventBox<Event>.self).event
  }
}

@usableFromInline
class EventBox<Event: Sendable>: @unchecked Sendable {
  // Sendable: immutable, as its subclass is.
  @usableFromInline final let event: Event

  @inlinable
  init(_ event: Event) {
    self.event = event
  }
}
