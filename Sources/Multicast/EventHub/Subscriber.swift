internal import Synchronization

/// Who receives the events of a hub: the value of its entry.
@usableFromInline
struct Subscriber<Event: Sendable> {
  /// Called with each event, by the sender or on a queue; does nothing for an asynchronous
  /// sequence. Not optional: calling what an optional holds would retain it.
  @usableFromInline let handler: @Sendable (Event) -> Void
  /// What lies between the sender and the handler; `nil` if nothing does.
  @usableFromInline let pipeline: EventPipeline<Event>?

  init(handler: @escaping @Sendable (Event) -> Void, pipeline: EventPipeline<Event>?) {
    self.handler = handler
    self.pipeline = pipeline
  }
}

/// What lies between a sender and a subscriber: a filter, a starting point, a mailbox.
@usableFromInline
final class EventPipeline<Event: Sendable>: Sendable {
  @usableFromInline let filter: (@Sendable (Event) -> Bool)?
  @usableFromInline let start: StartingPoint?
  @usableFromInline let mailbox: Mailbox?
  @usableFromInline let coalescer: Coalescer<Event>?

  init(
    filter: (@Sendable (Event) -> Bool)?, start: StartingPoint?,
    mailbox: Mailbox?, coalescer: Coalescer<Event>? = nil
  ) {
    self.filter = filter
    self.start = start
    self.mailbox = mailbox
    self.coalescer = coalescer
  }

  /// Whether the subscriber gets the event with this number.
  @inlinable
  func admits(_ event: Event, _ number: UInt64) -> Bool {
    if let start, number < start.first { return false }
    return filter?(event) ?? true
  }
}

/// The number of the first event that a subscriber gets live; those before came with the replay, or
/// before its time.
@usableFromInline
final class StartingPoint: Sendable {
  // Relaxed: a sender whose event has a number beyond it has left, after it was set, the lock under
  // which it was set.
  private let number = Atomic<UInt64>(.max)

  /// `UInt64.max` until it is known.
  @usableFromInline var first: UInt64 {
    get { number.load(ordering: .relaxed) }
    set { number.store(newValue, ordering: .relaxed) }
  }
}
