extension MulticastActor {
  /// Calls `body` with all delegates concurrently and returns the first value that is not `nil`.
  ///
  /// That value, or an error, cancels the other calls. This function still waits for them to end,
  /// so a delegate that ignores cancellation delays the result. Which delegates are called, and
  /// where, is as for ``invokeConcurrently(limit:timeout:clock:_:)``, and so are the requirements
  /// for `clock`.
  ///
  /// - Parameters:
  ///   - timeout: the time for all delegates together. `nil` or more than 100 years: no limit. Zero
  ///     or less: calls no delegate.
  ///   - clock: measures the timeout.
  ///   - body: called with each delegate. To ignore an error, catch it and return `nil`.
  /// - Returns: the value, or `nil` if there was none before the timeout.
  /// - Throws: the first error that `body` throws before there is a value.
  /// - Complexity: O(`count`).
  @inlinable
  public func firstResult<T: Sendable, E>(
    timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (Delegate) async throws(E) -> T?
  ) async throws(E) -> T? {
    var first: Result<T?, E> = .success(nil)
    await callConcurrently(limit: nil, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      await Result(of: body, delegate)
    } receive: { _, reply in
      let answer = reply.inTime
      switch answer {
      case .success(nil), nil:
        return true
      case .success, .failure:
        first = answer!
        return false
      }
    }
    return try first.get()
  }

  /// Calls `body` with all delegates concurrently and returns the value of the last delegate, in
  /// registration order, that returned one other than `nil` before the timeout.
  ///
  /// Otherwise as ``firstResult(timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - timeout: the time for all delegates together. `nil` or more than 100 years: no limit. Zero
  ///     or less: calls no delegate.
  ///   - clock: measures the timeout.
  ///   - body: called with each delegate.
  /// - Returns: the value, or `nil` if there was none before the timeout.
  /// - Throws: the first error that `body` throws before the timeout. It cancels the other calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func lastResult<T: Sendable, E>(
    timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (Delegate) async throws(E) -> T?
  ) async throws(E) -> T? {
    var last: Result<T?, E> = .success(nil)
    var position = -1
    await callConcurrently(limit: nil, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      await Result(of: body, delegate)
    } receive: { index, reply in
      let answer = reply.inTime
      switch answer {
      case .success(nil), nil:
        return true
      case .success:
        if index > position { (last, position) = (answer!, index) }
        return true
      case .failure:
        last = answer!
        return false
      }
    }
    return try last.get()
  }

  /// Calls `predicate` with all delegates concurrently and returns whether it is `true` for each.
  ///
  /// The first `false` cancels the other calls. A call that has not ended before the timeout counts
  /// as `false`. Without delegates the result is `true`. Otherwise as
  /// ``firstResult(timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - timeout: the time for all delegates together. `nil` or more than 100 years: no limit. Zero
  ///     or less: calls no delegate.
  ///   - clock: measures the timeout.
  ///   - predicate: called with each delegate.
  /// - Returns: `false` if a delegate answers `false`; `true` if there are none.
  /// - Throws: the first error that `predicate` throws before the result is decided. It cancels the
  ///   other calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func allSatisfy<E>(
    timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ predicate: @escaping @Sendable (Delegate) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await vote(until: false, timeout: timeout, clock: clock, predicate)
  }

  /// Calls `predicate` with all delegates concurrently and returns whether it is `true` for at
  /// least one.
  ///
  /// The first `true` cancels the other calls. A call that has not ended before the timeout counts
  /// as `false`. Without delegates the result is `false`. Otherwise as
  /// ``firstResult(timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - timeout: the time for all delegates together. `nil` or more than 100 years: no limit. Zero
  ///     or less: calls no delegate.
  ///   - clock: measures the timeout.
  ///   - predicate: called with each delegate.
  /// - Returns: `true` if a delegate answers `true`; `false` if there are none.
  /// - Throws: the first error that `predicate` throws before the result is decided. It cancels the
  ///   other calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func contains<E>(
    timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    where predicate: @escaping @Sendable (Delegate) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await vote(until: true, timeout: timeout, clock: clock, predicate)
  }

  /// Returns `decisive` if `predicate` does for a delegate, otherwise the opposite. A late vote is
  /// `false`.
  @inlinable
  func vote<E>(
    until decisive: Bool, timeout: Duration?, clock: some Clock<Duration>,
    _ predicate: @escaping @Sendable (Delegate) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    var outcome: Result<Bool, E> = .success(!decisive)
    await callConcurrently(limit: nil, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      await Result(of: predicate, delegate)
    } receive: { _, reply in
      switch reply.inTime ?? .success(false) {
      case .success(let vote) where vote != decisive:
        return true
      case .success:
        outcome = .success(decisive)
        return false
      case .failure(let error):
        outcome = .failure(error)
        return false
      }
    }
    return try outcome.get()
  }
}
