/// The retention of a hub as its sequencer applies it: what needs no lock.
///
/// A class, not a structure: code that is not specialised for the type of the events would look the
/// type of a structure up with each event.
final class RetentionRules<Event: Sendable>: Sendable {
  let isNone: Bool
  /// See ``EventPosition/epoch``.
  let epoch: UInt64
  private let size: (@Sendable (Event) -> Int)?
  /// The class of boxes, looked up once.
  private let box: EventBox<Event>.Type
  /// `nil` if the age is not limited.
  let clock: RetentionClock?
  /// Used by the thread that delivers.
  let index: RetentionIndex<Event>?
  let keeps: (@Sendable (Event) -> Bool)?

  init(_ retention: Retention<Event>, epoch: UInt64?) {
    self.epoch = epoch ?? .random(in: 1 ... .max)
    isNone = retention.isNone
    size = retention.size
    box = EventBox<Event>.self
    clock = retention.age.map { _ in RetentionClock() }
    index = retention.makeIndex?()
    keeps = retention.keeps
  }

  /// The event for the log, if there is one, and for delivery.
  func retained(_ event: Event) -> RetainedEvent {
    guard let measure = size else {
      let envelope =
        Envelope.fitsInWord(Event.self) ? Envelope(event: event) : Envelope(box.init(event))
      return RetainedEvent(envelope: envelope, size: 0, now: now ?? .zero)
    }
    let size = measure(event)
    require(size >= 0, "Multicast: the size of an event is \(size); it must not be negative.")
    // In a box, because the log uses the word of the envelope.
    return RetainedEvent(envelope: Envelope(box.init(event)), size: size, now: now ?? .zero)
  }

  /// Whether events have sizes.
  var isMeasured: Bool { size != nil }

  /// The time, if the age of events is limited.
  var now: Duration? { clock?.now }

  /// Whether user code decides what is kept, after each event.
  var hasUserRules: Bool { index != nil || keeps != nil }
}

/// Measures the age of events.
///
/// A class: whether an optional structure with an instant is `nil`, which each event asks, takes
/// more than all else that is done for the event here.
final class RetentionClock: Sendable {
  private let origin = ContinuousClock.now

  /// The time since the clock was made.
  var now: Duration { origin.duration(to: .now) }
}

/// An event as a log gets it.
struct RetainedEvent {
  let envelope: Envelope
  /// 0 unless sizes are limited.
  let size: Int
  /// Zero unless the age is limited.
  let now: Duration
}
