internal import Dispatch

/// What a call of `subscribe` asks for: the overloads differ only in the request that they make.
struct SubscriptionRequest<Event: Sendable>: Sendable {
  typealias EndAction = @Sendable (SubscriptionEnd, (any Error)?) -> Void

  var delivery: HandlerDelivery<Event>
  var buffering: BufferingPolicy<Event>
  /// Which events the subscriber receives. Called by senders.
  var filter: (@Sendable (Event) -> Bool)?
  /// Decides, where the handler is called and before the other options, whether to call it.
  var callFilter: (@Sendable (Event) -> Bool)?
  /// The object with which the subscription ends.
  var owner: (any AnyObject & Sendable)?
  /// The task-local keys whose values the handler sees as the sender did.
  var carried: CarriedKeys?
  /// Called when no more events follow, unless the subscription was cancelled.
  var onEnd: EndAction?
  /// Gives the handler its own subscription, if it needs that.
  var binding: SubscriptionBinding?
  /// Whether `origin` has what measures the calls: `delivery` does something else too, or instead.
  var isMeasured = false
  /// Where the subscription was made.
  let origin: Origin

  init(
    _ delivery: HandlerDelivery<Event>, _ buffering: BufferingPolicy<Event>,
    _ filter: (@Sendable (Event) -> Bool)?, _ options: [SubscriberOption<Event>],
    owner: (any AnyObject & Sendable)? = nil, binding: SubscriptionBinding? = nil,
    origin: Origin
  ) {
    self.delivery = delivery
    self.buffering = buffering
    self.filter = filter
    self.owner = owner
    self.binding = binding
    self.origin = origin
    for option in options { option.apply(&self) }
  }
}
