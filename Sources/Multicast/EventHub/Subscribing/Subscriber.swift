internal import Synchronization

/// A receiver of the events of a hub: the value of its entry.
@usableFromInline
struct Subscriber<Event: Sendable> {
  /// Called with each event by the sender, if there is no mailbox; does nothing for an asynchronous
  /// sequence or handler, and for one that receives positions. Not optional: calling a closure that
  /// an optional holds would retain it.
  @usableFromInline let handler: @Sendable (Event) -> Void
  /// The steps between the sender and the handler; `nil` if there are none.
  @usableFromInline let pipeline: EventPipeline<Event>?

  init(handler: @escaping @Sendable (Event) -> Void, pipeline: EventPipeline<Event>?) {
    self.handler = handler
    self.pipeline = pipeline
  }

  /// The pipeline, not retained: the entry owns it.
  @inlinable @inline(__always)
  var unretainedPipeline: Unmanaged<EventPipeline<Event>>? {
    pipeline.map { .passUnretained($0) }
  }
}

/// The steps between a sender and a subscriber: starting point, filter, coalescer, mailbox.
@usableFromInline
final class EventPipeline<Event: Sendable>: ElementReceiver, @unchecked Sendable {
  // Sendable: only `isDirect` changes, and every property is Sendable. One thread at a time
  // delivers the events of a hub with one order; it changes and reads `isDirect`.

  @usableFromInline let filter: (@Sendable (Event) -> Bool)?
  @usableFromInline let start: StartingPoint?
  @usableFromInline let mailbox: Mailbox?
  @usableFromInline let coalescer: Coalescer<Event>?
  /// Whether nothing stands between a sender and the handler, at least since the starting point was
  /// reached.
  @exclusivity(unchecked) @usableFromInline private(set) var isDirect = false
  /// The subscriber's handler, which the mailbox calls.
  private let handler: @Sendable (Event) -> Void
  /// Called by the mailbox instead of the subscriber's handler, if it is asynchronous. As
  /// ``Subscriber/handler`` not optional.
  private let asyncHandler: @Sendable (Event) async -> Void
  /// What the mailbox calls instead of the subscriber's handler, if that receives positions. Here
  /// and not in the mailbox, so that what the handler captures is released when the subscription
  /// has ended.
  let follower: (any Follower)?
  /// The task-local keys whose values travel with each event.
  @usableFromInline let carried: CarriedKeys?
  /// See ``SubscriptionRequest/onEnd``.
  let onEnd: SubscriptionRequest<Event>.EndAction?

  init(
    filter: (@Sendable (Event) -> Bool)?, start: StartingPoint?,
    mailbox: Mailbox?, handler: @escaping @Sendable (Event) -> Void,
    coalescer: Coalescer<Event>? = nil,
    asyncHandler: @escaping @Sendable (Event) async -> Void = { _ in }, carried: CarriedKeys? = nil,
    onEnd: SubscriptionRequest<Event>.EndAction? = nil, follower: (any Follower)? = nil
  ) {
    self.handler = handler
    self.follower = follower
    self.asyncHandler = asyncHandler
    self.carried = carried
    self.onEnd = onEnd
    self.filter = filter
    self.start = start
    self.mailbox = mailbox
    self.coalescer = coalescer
    super.init()
    isDirect = start == nil && mailbox == nil && isEmpty
    // SAFETY: a mailbox uses its receiver only to deliver to its entry, which the caller of that
    // holds and which owns this.
    (mailbox as? HandlerMailbox)?.receiver = .passUnretained(self)
    (mailbox as? TaskMailbox)?.receiver = .passUnretained(self)
  }

  /// Passes what waited in the mailbox to the handler.
  override func receive(
    _ element: EnvelopeReference, for head: UnsafeMutablePointer<EntryHead>
  ) {
    if let follower { return follower.deliver(to: head) }
    guard carried != nil else { return element.withEvent(handler) }
    carriedValues(element).run { element.withEvent(handler) }
  }

  override func receiveInTask(
    _ element: EnvelopeReference, for head: UnsafeMutablePointer<EntryHead>
  ) async {
    let event = element.withEvent { (event: Event) in event }
    guard carried != nil, let values = carriedValues(element) else {
      return await asyncHandler(event)
    }
    await values.run { [asyncHandler] _ in await asyncHandler(event) }
  }

  /// The values that travel with an event. Events of a replay have none.
  private func carriedValues(_ element: EnvelopeReference) -> CarriedValues? {
    // SAFETY: the caller holds the element.
    (element.object?.takeUnretainedValue() as? CarriedEventBox<Event>)?.values
  }

  /// Later events have higher numbers than one that has reached the starting point: if that is all
  /// there is between a sender and the handler, or the mailbox, nothing is any more.
  @usableFromInline
  func passStart() {
    guard isEmpty else { return }
    if let mailbox { mailbox.isDirect = true } else { isDirect = true }
  }

  /// Whether nothing but a starting point stands between a sender and the handler, or the mailbox.
  var isEmpty: Bool { filter == nil && coalescer == nil && carried == nil }

  /// Whether the subscriber receives the event with this number.
  @inlinable
  func includes(_ event: Event, _ number: UInt64) -> Bool {
    if let start, number < start.first { return false }
    return filter?(event) ?? true
  }
}

/// The number of the first event that a subscriber receives live. The replay has the newest of the
/// earlier ones.
@usableFromInline
final class StartingPoint: Sendable {
  // Relaxed: it is set under the sequencer's lock. The thread that delivers an event with this or a
  // higher number took the event out under the same lock afterwards.
  private let number = Atomic<UInt64>(.max)

  /// `UInt64.max` until it is set.
  @usableFromInline var first: UInt64 {
    get { number.load(ordering: .relaxed) }
    set { number.store(newValue, ordering: .relaxed) }
  }
}
