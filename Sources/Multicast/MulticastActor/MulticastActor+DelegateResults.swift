extension MulticastActor {
  /// Calls `body` with all delegates concurrently, as
  /// ``invokeConcurrently(limit:timeout:clock:_:)`` does, and returns each delegate with what
  /// `body` returns or throws for it, in registration order.
  ///
  /// So the caller learns which delegates did not answer in time: the result of those is
  /// ``DeliveryTimeoutError``, also if their call had not begun.
  ///
  /// ```swift
  /// let stored = await hub.resultsByDelegate(timeout: .seconds(1)) { try await $0.store(row) }
  /// for (delegate, result) in stored {
  ///   if case .failure(is DeliveryTimeoutError) = result { await delegate.reconnect() }
  /// }
  /// ```
  ///
  /// The array keeps the delegates alive, and so does this function until it returns, and perhaps
  /// for a moment longer: the task of a call, which has its result, ends on a thread of its own.
  /// The parameters are those of ``invokeConcurrently(limit:timeout:clock:_:)``.
  ///
  /// - Parameters:
  ///   - limit: the most delegates that are called at once; `nil`: all of them.
  ///   - timeout: the time for all delegates together; `nil`: no limit.
  ///   - clock: measures the timeout.
  ///   - body: called with each delegate.
  /// - Returns: the delegates with their results, in registration order.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: O(`count`).
  @inlinable
  public func resultsByDelegate<T: Sendable>(
    limit: Int? = nil, timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (Delegate) async throws -> T
  ) async -> [(delegate: Delegate, result: Result<T, any Error>)] {
    var results: [(delegate: Delegate, result: Result<T, any Error>)?] = []
    await callConcurrently(limit: limit, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      (delegate, await Result(of: body, delegate))
    } receive: { index, reply in
      while results.count <= index { results.append(nil) }
      switch reply {
      case .inTime(let answer):
        results[index] = answer
      case .late((let delegate, _)):
        results[index] = (delegate, .failure(timedOut(after: timeout)))
      case .notCalled(let entry):
        // `nil` if it was removed or deallocated in the meantime: as one that was so before.
        results[index] = entry.liveValue(as: Delegate.self).map {
          ($0, .failure(timedOut(after: timeout)))
        }
      }
      return true
    }
    return results.compactMap(\.self)
  }
}
