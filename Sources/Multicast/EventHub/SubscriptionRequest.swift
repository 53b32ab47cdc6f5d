internal import Dispatch

/// What a call of `subscribe` asks for: the overloads differ only in the request that they make.
struct SubscriptionRequest<Event: Sendable>: Sendable {
  var delivery: HandlerDelivery<Event>
  var buffering: BufferingPolicy<Event>
  /// Which events the subscriber receives. Called by senders.
  var filter: (@Sendable (Event) -> Bool)?
  /// The object with which the subscription ends.
  var owner: (any AnyObject & Sendable)?

  init(
    _ delivery: HandlerDelivery<Event>, _ buffering: BufferingPolicy<Event>,
    _ filter: (@Sendable (Event) -> Bool)?, _ options: [SubscriberOption<Event>],
    owner: (any AnyObject & Sendable)? = nil
  ) {
    self.delivery = delivery
    self.buffering = buffering
    self.filter = filter
    self.owner = owner
    for option in options { option.apply(&self) }
  }
}
