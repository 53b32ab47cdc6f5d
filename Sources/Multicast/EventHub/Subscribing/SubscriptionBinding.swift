/// Gives a handler its own subscription.
///
/// The handler owns the binding, the binding the subscription, and that the registry, which owns
/// the handler: a cycle until the subscription ends, at the latest with the hub.
///
/// ## Thread safety
/// Any thread may read ``subscription`` inside the handler.
final class SubscriptionBinding: @unchecked Sendable {
  // Sendable: the variables are set once, before the entry of the handler is published.

  /// The subscription. It ends neither with this object nor with its handle.
  fileprivate(set) var subscription: EventSubscription!
  /// See `Registry.hub`. Kept: while the handler is called, no other hub has this address.
  fileprivate(set) var hub: AnyObject!
}

extension SubscriptionBinding {
  /// Sets the subscription of an entry that is about to be added, by a thread that holds the hub.
  func bind(_ registration: EntryHandle) {
    subscription = BoundSubscription(registration)
    hub = registration.registry.hub
  }
}
