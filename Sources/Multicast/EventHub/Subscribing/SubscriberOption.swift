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

extension SubscriberOption {
  /// Several options in one, for a library that offers what needs more than one.
  ///
  /// - Parameter options: applied in this order, as if each were passed to `subscribe`.
  /// - Returns: the option.
  public static func combining(_ options: [Self]) -> Self {
    Self { request in
      for option in options { option.apply(&request) }
    }
  }
}
