extension EventSubscription {
  /// Whether the subscription is blocked. It still counts as a subscriber, and ``isActive`` is
  /// `true`.
  ///
  /// - Complexity: O(1).
  public var isBlocked: Bool { registration.isBlocked }

  /// Blocks the subscription until ``unblock()``: its handler is not called, and what is sent in
  /// the meantime is skipped, as if it were not registered. Blocks nest: each needs its
  /// ``unblock()``.
  ///
  /// A call that has begun on another thread may still be running when this returns. What waits in
  /// a buffer stays there and is delivered after the last ``unblock()``, before what is sent then.
  /// Meanwhile `flush` does not wait for it. When the hub finishes, the subscription ends after its
  /// last ``unblock()``; that of a handler that senders call, in a hub without a replay, at once. A
  /// blocked subscription ends with its handle, also if it has an owner.
  ///
  /// A subscription of a ``StateHub`` gets a snapshot after its last ``unblock()``, if the state
  /// has changed.
  ///
  /// In a hub with one order (see ``Ordering``) it counts whether the subscription is blocked when
  /// an event is delivered, which another sender, or an outer call, may do after `send` has
  /// returned.
  ///
  /// - Complexity: amortised O(1).
  public func block() { registration.block() }

  /// Removes a block. After the last one its handler is called again.
  ///
  /// On a subscription that has ended this does nothing.
  ///
  /// - Precondition: ``block()`` was called once more than this.
  /// - Complexity: amortised O(1).
  public func unblock() { registration.unblock() }

  /// Runs `body` while the subscription is blocked, and returns its result or throws its error.
  ///
  /// ```swift
  /// subscription.withBlocked { prices.send(own) }  // for the others only
  /// ```
  ///
  /// - Parameter body: what to run meanwhile.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  /// - Complexity: amortised O(1), and `body`.
  public func withBlocked<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    try registration.withBlocked(body)
  }

  /// Runs `body` while the subscription is blocked, also while it is suspended, and returns its
  /// result or throws its error.
  ///
  /// - Parameter body: what to run meanwhile.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  /// - Complexity: amortised O(1), and `body`.
  @_disfavoredOverload
  nonisolated(nonsending) public func withBlocked<R: ~Copyable, E>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    try await registration.withBlocked(body)
  }
}
