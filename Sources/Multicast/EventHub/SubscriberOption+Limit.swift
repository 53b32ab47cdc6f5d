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
  /// begins, so what waits then is discarded. Its end is ``SubscriptionEnd/cancelled``, unless the
  /// hub had finished before, and the actions of ``onEnd(isolation:_:)`` are not called.
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

  init(_ limit: Int, _ binding: SubscriptionBinding) {
    self.limit = limit
    self.binding = binding
  }

  /// Begins a call. The last one ends the subscription.
  ///
  /// - Returns: whether it may be made.
  func begin() -> Bool {
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    if number == limit { binding.subscription.cancel() }
    return number <= limit
  }
}

extension HandlerDelivery {
  /// The same, with at most as many calls as `limit` says.
  fileprivate func limited(by limit: CallLimit) -> Self {
    switch self {
    case .sender(let handler): .sender { if limit.begin() { handler($0) } }
    case .queue(let queue, let handler): .queue(queue) { if limit.begin() { handler($0) } }
    case .actor(let home, let handler): .actor(home) { if limit.begin() { handler($0) } }
    case .task(let home, let count, let handler):
      .task(home, limit: count) { if limit.begin() { await handler($0) } }
    }
  }
}
