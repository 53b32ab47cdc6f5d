/// Gives a handler its own subscription.
///
/// The handler owns the binding, the binding the subscription, and that the registry, which owns
/// the handler: a cycle until the subscription ends, at the latest with the hub.
///
/// ## Thread safety
/// Any thread may read ``subscription`` inside the handler.
final class SubscriptionBinding: @unchecked Sendable {
  // Sendable: `subscription` is set once, before the entry of the handler is published.

  /// The subscription. It ends neither with this object nor with its handle.
  fileprivate(set) var subscription: EventSubscription!
}

extension SubscriptionBinding {
  /// Sets the subscription of an entry that is about to be added.
  func bind(_ registration: EntryHandle) {
    subscription = BoundSubscription(registration)
  }
}
