/// What waits in a mailbox: a call, or an event, in a box.
///
/// A sender makes one box if anybody has a mailbox, and every mailbox shares it. So mailboxes are
/// free of generics, and a large event is copied once.
@usableFromInline
struct Parcel: Sendable {
  @usableFromInline let box: any AnyObject & Sendable

  @usableFromInline
  init(_ box: any AnyObject & Sendable) {
    self.box = box
  }
}

// MARK: - Events

extension Parcel {
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

// MARK: - Calls

extension Parcel {
  /// A call of whatever value the entry has.
  @inlinable
  init<Value>(call body: @escaping @Sendable (Value) -> Void) {
    self.init(
      CallBox { head in Entry.value(head, as: Value.self).pointee.pass(to: body) })
  }

  /// Makes the call that is in the box, of an entry that is active and whose target is alive.
  func call(_ head: UnsafeMutablePointer<EntryHead>) {
    // SAFETY: the mailbox of a delegate is given calls.
    unsafeDowncast(box, to: CallBox.self).body(head)
  }
}

@usableFromInline
final class CallBox: Sendable {
  let body: @Sendable (UnsafeMutablePointer<EntryHead>) -> Void

  @usableFromInline
  init(_ body: @escaping @Sendable (UnsafeMutablePointer<EntryHead>) -> Void) {
    self.body = body
  }
}
