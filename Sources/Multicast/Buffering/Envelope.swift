internal import CMulticast

/// A call or an event: the element of a mailbox.
///
/// Mailboxes are not generic. A sender creates at most one box, which all mailboxes share, so a
/// large event is copied once. A small event without references needs no box: a copy of it is as
/// cheap as a reference, and changes no reference count that other threads change too.
@usableFromInline
struct Envelope: Sendable {
  /// `nil`: the event is in `word`.
  @usableFromInline let object: (any AnyObject & Sendable)?
  @usableFromInline let word: UInt64

  /// What was put into the envelope as an object.
  var box: any AnyObject & Sendable { object! }

  @inlinable @inline(__always)
  init(_ box: any AnyObject & Sendable) {
    object = box
    word = 0
  }

  @usableFromInline
  init(word: UInt64) {
    object = nil
    self.word = word
  }
}

extension Envelope {
  /// An envelope with an object, and a word beside it that no event is in.
  init(_ box: any AnyObject & Sendable, word: UInt64) {
    object = box
    self.word = word
  }

  /// An envelope with nothing in it.
  static var signal: Envelope { Envelope(word: 0) }
  /// The rest of an element that a receiver has begun to handle.
  static var rest: Envelope { Envelope(word: 1) }
  /// Whether a signal is a whole one.
  var isSignal: Bool { word == 0 }

  /// The envelope with the contents of `reference`, from which it takes one retain.
  init(taking reference: EnvelopeReference) {
    // SAFETY: the types have the same representation, because `Sendable` has no requirements; the
    // object is Sendable, because every box is.
    object = unsafeBitCast(
      reference.object?.takeRetainedValue(), to: (any AnyObject & Sendable)?.self)
    word = reference.word
  }

  /// The contents, with the retain of this envelope.
  consuming func intoReference() -> EnvelopeReference {
    EnvelopeReference(object: object.map { .passRetained($0) }, word: word)
  }

  /// The contents, retained `count` times.
  func retained(times count: Int) -> EnvelopeReference {
    let unmanaged = object.map { Unmanaged<AnyObject>.passUnretained($0) }
    // SAFETY: every box is a native Swift object: its class is one of this library, without a
    // superclass of another.
    if let unmanaged { _ = swift_retain_n(unmanaged.toOpaque(), UInt32(count)) }
    return EnvelopeReference(object: unmanaged, word: word)
  }

  @inlinable @inline(__always)
  init<Event: Sendable>(event: Event) {
    guard Self.fitsInWord(Event.self) else {
      self.init(EventBox(event))
      return
    }
    var word: UInt64 = 0
    // SAFETY: the event fits into the word, and its bytes are all there is to it.
    withUnsafeMutableBytes(of: &word) { $0.storeBytes(of: event, as: Event.self) }
    self.init(word: word)
  }

  /// The event.
  @inlinable @inline(__always)
  func event<Event: Sendable>(_: Event.Type) -> Event {
    // SAFETY: a mailbox belongs to one hub, and a hub has one event type. Such an event is in the
    // word if `init(event:)` has put it there, and otherwise in a box.
    guard Self.fitsInWord(Event.self), object == nil else {
      return unsafeDowncast(object!, to: EventBox<Event>.self).event
    }
    return withUnsafeBytes(of: word) { $0.load(as: Event.self) }
  }

  /// Whether events of a type need no box.
  @inlinable @inline(__always)
  static func fitsInWord<Event>(_: Event.Type) -> Bool {
    _isPOD(Event.self) && MemoryLayout<Event>.size <= MemoryLayout<UInt64>.size
      && MemoryLayout<Event>.alignment <= MemoryLayout<UInt64>.alignment
  }
}

/// The contents of an envelope that the caller keeps: the compiler retains them for no call.
struct EnvelopeReference {
  /// `nil`: the event is in `word`.
  let object: Unmanaged<AnyObject>?
  let word: UInt64

  /// Passes the event to `body`. It is not copied first, as a function that is not specialised for
  /// its type would have to.
  @inline(__always)
  func withEvent<Event: Sendable, R>(_ body: (Event) -> R) -> R {
    // SAFETY: as in `Envelope.event`.
    if let object {
      return object._withUnsafeGuaranteedRef {
        body(unsafeDowncast($0, to: EventBox<Event>.self).event)
      }
    }
    // Memory of its own, which holds an event from now on: its bytes are all there is to that.
    var word = word
    return withUnsafeMutablePointer(to: &word) {
      body(UnsafeMutableRawPointer($0).bindMemory(to: Event.self, capacity: 1).pointee)
    }
  }

  /// See ``Envelope/signal``.
  static var signal: EnvelopeReference { EnvelopeReference(object: nil, word: 0) }

  func release() { object?.release() }
}

@usableFromInline
class EventBox<Event: Sendable>: @unchecked Sendable {
  // Sendable: immutable, as its subclass is.
  @usableFromInline final let event: Event

  @inlinable
  required init(_ event: Event) {
    self.event = event
  }
}
