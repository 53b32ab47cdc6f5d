extension Registration {
  /// Whether the registration is blocked. It still is registered: it counts, and ``isActive`` is
  /// `true`.
  ///
  /// - Complexity: O(1).
  public var isBlocked: Bool { handle.isBlocked }

  /// Blocks the registration until ``unblock()``: its delegate is not called, and what is sent in
  /// the meantime is skipped, as if it were not registered. Blocks nest: each needs its
  /// ``unblock()``.
  ///
  /// A loop over a ``MulticastDelegate``, also `map` and `allSatisfy`, reads the list, and still
  /// returns the delegate.
  ///
  /// A call that has begun on another thread may still be running when this returns. What waits in
  /// a buffer stays there and is delivered after the last ``unblock()``, before what is sent then.
  /// Meanwhile `flush` does not wait for it. An `add` that changes the registration (see
  /// ``DuplicatePolicy/ignore``) makes one that is not blocked.
  ///
  /// - Complexity: amortised O(1).
  public func block() { handle.block() }

  /// Removes a block. After the last one its delegate is called again.
  ///
  /// On a registration that has ended this does nothing.
  ///
  /// - Precondition: ``block()`` was called once more than this.
  /// - Complexity: amortised O(1).
  public func unblock() { handle.unblock() }

  /// Runs `body` while the registration is blocked, and returns its result or throws its error.
  ///
  /// ```swift
  /// registration.withBlocked { model.value = slider.value }  // the slider is not told
  /// ```
  ///
  /// - Parameter body: what to run meanwhile.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  /// - Complexity: amortised O(1), and `body`.
  public func withBlocked<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    try handle.withBlocked(body)
  }

  /// Runs `body` while the registration is blocked, also while it is suspended, and returns its
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
    try await handle.withBlocked(body)
  }
}
