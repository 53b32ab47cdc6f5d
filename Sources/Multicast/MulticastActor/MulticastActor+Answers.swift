extension MulticastActor {
  /// The first answer that is not `nil`, in time. All delegates are asked concurrently; when one
  /// has answered, the others are cancelled.
  ///
  /// As for who is asked, on what, and what `clock` is, see
  /// ``invokeConcurrently(limit:timeout:clock:_:)``. A delegate that ignores its cancellation
  /// delays the answer.
  ///
  /// - Parameters:
  ///   - timeout: how much time there is; `nil`, or more than 100 years, for as long as it takes. If
  ///     it is zero or less, no delegate is asked.
  ///   - clock: measures the timeout.
  ///   - body: asks a delegate.
  /// - Returns: the answer, or `nil` if no delegate has one, or none in time.
  /// - Throws: the first error that `body` throws before there is an answer. It cancels the others
  ///   too. To have those that fail passed over, make them answer `nil`.
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
    } receive: { _, answer in
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

  /// The answer of the last delegate, in registration order, that has one in time. All delegates are
  /// asked concurrently.
  ///
  /// As for the rest, see ``firstResult(timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - timeout: how much time there is; `nil`, or more than 100 years, for as long as it takes. If
  ///     it is zero or less, no delegate is asked.
  ///   - clock: measures the timeout.
  ///   - body: asks a delegate.
  /// - Returns: the answer, or `nil` if no delegate has one, or none in time.
  /// - Throws: the first error that `body` throws in time. It cancels the others.
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
    } receive: { index, answer in
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

  /// Whether every delegate says yes. All are asked concurrently; when one has said no, the others
  /// are cancelled.
  ///
  /// A delegate that has not voted in time counts as a no. Without delegates the answer is `true`.
  /// As for the rest, see ``firstResult(timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - timeout: how much time there is; `nil`, or more than 100 years, for as long as it takes. If
  ///     it is zero or less, no delegate is asked.
  ///   - clock: measures the timeout.
  ///   - predicate: asks a delegate for its vote.
  /// - Throws: the first error that `predicate` throws before the vote is decided. It cancels the
  ///   others too.
  /// - Complexity: O(`count`).
  @inlinable
  public func allSatisfy<E>(
    timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ predicate: @escaping @Sendable (Delegate) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await vote(until: false, timeout: timeout, clock: clock, predicate)
  }

  /// Whether at least one delegate says yes. All are asked concurrently; when one has said yes, the
  /// others are cancelled.
  ///
  /// A delegate that has not voted in time counts as a no. Without delegates the answer is `false`.
  /// As for the rest, see ``firstResult(timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - timeout: how much time there is; `nil`, or more than 100 years, for as long as it takes. If
  ///     it is zero or less, no delegate is asked.
  ///   - clock: measures the timeout.
  ///   - predicate: asks a delegate for its vote.
  /// - Throws: the first error that `predicate` throws before the vote is decided. It cancels the
  ///   others too.
  /// - Complexity: O(`count`).
  @inlinable
  public func contains<E>(
    timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    where predicate: @escaping @Sendable (Delegate) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await vote(until: true, timeout: timeout, clock: clock, predicate)
  }

  /// `decisive` if a delegate votes so, where a late vote is a no; otherwise the opposite.
  @inlinable
  func vote<E>(
    until decisive: Bool, timeout: Duration?, clock: some Clock<Duration>,
    _ predicate: @escaping @Sendable (Delegate) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    var outcome: Result<Bool, E> = .success(!decisive)
    await callConcurrently(limit: nil, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      await Result(of: predicate, delegate)
    } receive: { _, answer in
      switch answer ?? .success(false) {
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
