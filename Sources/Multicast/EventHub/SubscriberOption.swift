/// A choice that one subscriber makes, passed to `subscribe` as one of its `options`.
///
/// ## Thread safety
/// A value: any thread may use it, and several subscribers may have it.
public struct SubscriberOption<Event: Sendable>: Sendable {
  let apply: @Sendable (inout SubscriptionRequest<Event>) -> Void

  init(_ apply: @escaping @Sendable (inout SubscriptionRequest<Event>) -> Void) {
    self.apply = apply
  }
}
