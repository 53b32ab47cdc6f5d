internal import CMulticast

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
  /// The envelope of `box`, from which it takes a retain of ``retainedBox(times:)``.
  init(taking box: Unmanaged<AnyObject>) {
    // SAFETY: the types have the same representation, because `Sendable` has no requirements; the
    // object is Sendable, because every box is.
    self.box = unsafeBitCast(box.takeRetainedValue(), to: (any AnyObject & Sendable).self)
  }

  /// The box, with the retain of this envelope.
  consuming func intoReference() -> EnvelopeReference {
    EnvelopeReference(box: .passRetained(box))
  }

  /// The box, retained `count` times.
  func retainedBox(times count: Int) -> Unmanaged<AnyObject> {
    let unmanaged = Unmanaged<AnyObject>.passUnretained(box)
    // SAFETY: every box is a native Swift object: its class is one of this library, without a
    // superclass of another.
    _ = swift_retain_n(unmanaged.toOpaque(), UInt32(count))
    return unmanaged
  }

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

/// An envelope that the caller keeps: the compiler retains it for no call.
struct EnvelopeReference {
  let box: Unmanaged<AnyObject>

  /// See ``Envelope/event(_:)``.
  func event<Event: Sendable>(_: Event.Type) -> Event {
    // SAFETY: as there.
    box._withUnsafeGuaranteedRef { unsafeDowncast($0, to: EventBox<Event>.self).event }
  }

  func release() { box.release() }
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
