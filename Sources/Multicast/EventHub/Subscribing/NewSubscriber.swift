/// A subscriber that is about to be registered.
struct NewSubscriber<Event: Sendable> {
  /// Where events wait; `nil` if senders call the handler.
  var mailbox: Mailbox?
  /// Lets the mailbox deliver, in a hub that replays: there it waits for the replay.
  var start: (Entry) -> Void = { _ in }
  /// Which waiting event a new one replaces.
  var makeIndex: (@Sendable () -> CoalescingIndex<Event>)?
  /// Which events the subscriber receives. Called by senders.
  var filter: (@Sendable (Event) -> Bool)?
  var handler: @Sendable (Event) -> Void = { _ in }
  var asyncHandler: @Sendable (Event) async -> Void = { _ in }
  /// The task-local keys whose values the handler sees as the sender did.
  var carried: CarriedKeys?
  /// See ``SubscriptionRequest/onEnd``.
  var onEnd: SubscriptionRequest<Event>.EndAction?
  /// The object with which the subscription ends.
  var owner: AnyObject?
  /// Gives the handler its own subscription, if it needs that.
  var binding: SubscriptionBinding?
  /// Where the subscription was made.
  let origin: Origin
}

extension NewSubscriber {
  /// What `request` says of it, without what the delivery needs.
  init(_ request: SubscriptionRequest<Event>, origin: Origin) {
    self.init(
      makeIndex: request.buffering.positions, filter: request.filter, carried: request.carried,
      onEnd: request.onEnd, owner: request.owner, binding: request.binding, origin: origin)
  }

  /// The steps between a sender and the handler; `nil` if there are none.
  ///
  /// - Parameter start: where the events begin that the subscriber receives live, in a hub with one
  ///   order.
  func pipeline(from start: StartingPoint?) -> EventPipeline<Event>? {
    guard mailbox != nil || filter != nil || start != nil || onEnd != nil else { return nil }
    let coalescer = makeIndex.flatMap { make in mailbox.map { Coalescer($0, make()) } }
    return EventPipeline(
      filter: filter, start: start, mailbox: mailbox, handler: handler, coalescer: coalescer,
      asyncHandler: asyncHandler, carried: carried, onEnd: onEnd)
  }

  /// One of ``SubscriberKinds``.
  var kind: UInt8 {
    switch mailbox {
    case nil: SubscriberKinds.handler
    case is InlineMailbox: SubscriberKinds.handlerWithBuffer
    default: SubscriberKinds.buffer
    }
  }
}
