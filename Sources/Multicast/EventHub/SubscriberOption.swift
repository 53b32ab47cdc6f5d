/// A choice that one subscriber makes, passed to `subscribe` as one of its `options`.
public struct SubscriberOption<Event: Sendable>: Sendable {
  let apply: @Sendable (inout SubscriptionRequest<Event>) -> Void

  init(_ apply: @escaping @Sendable (inout SubscriptionRequest<Event>) -> Void) {
    self.apply = apply
  }
}
