internal import Synchronization

extension SubscriberOption {
  /// The handler is called once: the same as `first(1)`.
  public static var once: Self { first(1) }

  /// The handler is called with the first `count` events that it receives, and the subscription
  /// ends with the last of them.
  ///
  /// The events of the replay count; those that the filter excludes do not. The handler is called
  /// exactly `count` times, unless the subscription ends before: also with concurrent senders, on a
  /// queue, on an actor, or with concurrent calls. The subscription has ended when the last call
  /// begins, so what waits then is discarded. A flush of the hub waits for that call, unless during
  /// it the subscription is cancelled, or its handle is released and there is no owner. Its end is
  /// ``SubscriptionEnd/cancelled``, unless the hub had finished or a full buffer had disconnected
  /// it before, and the actions of ``onEnd(isolation:_:)`` are not called.
  ///
  /// ```swift
  /// let subscription = prices.subscribe(where: { $0.value < 10 }, options: [.once]) { buy($0) }
  /// ```
  /// For a sequence use `prefix(_:)`, or ``EventHub/first(where:)``.
  ///
  /// - Parameter count: the number of calls.
  /// - Returns: the option.
  /// - Precondition: `count` is at least 1.
  public static func first(_ count: Int) -> Self {
    require(
      count >= 1,
      "Multicast: first(\(count)) would never call the handler; use a number of at least 1.")
    return Self { request in
      let binding = request.binding ?? SubscriptionBinding()
      request.binding = binding
      request.delivery = request.delivery.limited(by: CallLimit(count, binding))
    }
  }
}

/// The number of calls that a handler may still get.
private final class CallLimit: Sendable {
  private let limit: Int
  private let binding: SubscriptionBinding
  // Relaxed: a call needs no more than a number of its own.
  private let begun = Atomic<Int>(0)
  // Acquiring and releasing: the call that returns last removes what the last one to begin has
  // added.
  private let returned = Atomic<Int>(0)

  init(_ limit: Int, _ binding: SubscriptionBinding) {
    self.limit = limit
    self.binding = binding
  }

  /// Begins a call. The last one ends the subscription.
  ///
  /// - Returns: whether it may be made. Then ``end()`` follows.
  func begin() -> Bool {
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    if number == limit { endSubscription() }
    return number <= limit
  }

  private func endSubscription() {
    let registration = binding.subscription.registration
    // Otherwise it was cancelled, or another limit of the handler has ended it.
    guard let entry = registration.entry,
      LastCalls.shared.begin(entry, of: self, in: registration.registry, of: binding.hub)
    else { return }
    // Otherwise it was cancelled meanwhile.
    if !registration.remove() { LastCalls.shared.forget(registration.identity) }
  }

  /// Ends a call.
  func end() {
    let number = returned.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    if number == limit {
      LastCalls.shared.end(binding.subscription.registration.identity, of: self)
    }
  }
}

extension HandlerDelivery {
  /// The same, with at most as many calls as `limit` says.
  fileprivate func limited(by limit: CallLimit) -> Self {
    wrapped { handler in
      { event in
        guard limit.begin() else { return }
        handler(event)
        limit.end()
      }
    } async: { handler in
      { event in
        guard limit.begin() else { return }
        await handler(event)
        limit.end()
      }
    }
  }
}
