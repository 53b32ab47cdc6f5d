extension EventHub {
  /// Ends every subscription; the hub itself goes on, and accepts events and new subscribers.
  ///
  /// As if each subscription were cancelled: its handler is not called any more, except by a call
  /// that another thread has begun; events that wait are discarded; sequences return `nil` next,
  /// and their end is ``SubscriptionEnd/cancelled``. A subscription that begins concurrently may
  /// remain. The replay is kept.
  ///
  /// - Complexity: O(subscribers).
  public func cancelSubscriptions() {
    registry.removeAll()
    LastCalls.shared.forget(allOf: ObjectIdentifier(registry))
  }
}
