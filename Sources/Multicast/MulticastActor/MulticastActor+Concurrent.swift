extension MulticastActor {
  /// Calls `body` with all delegates concurrently and returns what it returns or throws for each,
  /// in registration order.
  ///
  /// ```swift
  /// let stored = await hub.invokeConcurrently(limit: 8, timeout: .seconds(1)) {
  ///   try await $0.store(row)
  /// }
  /// ```
  ///
  /// Each delegate is called in a child task, on the global pool or on the task executor that the
  /// caller prefers. An error for one delegate does not stop the others. Calls the delegates that
  /// are registered when the invocation begins; one that is removed or deallocated before its child
  /// begins is not called and has no result. Cancelling the calling task cancels the children, but
  /// each delegate is still called.
  ///
  /// When the timeout expires, running children are cancelled and the remaining delegates are not
  /// called. The result of both is ``DeliveryTimeoutError``, whatever a late child returns. This
  /// function still waits for late children, so a delegate that ignores cancellation delays the
  /// results. Once the calling task was cancelled, an answer is in time if the hub receives it in
  /// time.
  ///
  /// - Parameters:
  ///   - limit: the number of delegates that may be called at once; `nil`: all of them.
  ///   - timeout: the time for all delegates together, from the moment when the first child may
  ///     begin. `nil` or more than 100 years: no limit. Zero or less: calls no delegate.
  ///   - clock: measures `timeout`. Its `sleep` must end when it is cancelled. If it throws for
  ///     another reason, the timeout does not expire.
  ///   - body: called with each delegate. It may add, remove and invoke.
  /// - Returns: the results, in registration order.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: O(`count`), and inside a callback O(calls of the hub that ever ran at once).
  @inlinable
  public func invokeConcurrently<T: Sendable>(
    limit: Int? = nil, timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (Delegate) async throws -> T
  ) async -> [Result<T, any Error>] {
    var results: [Result<T, any Error>?] = []
    await callConcurrently(limit: limit, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      await Result(of: body, delegate)
    } receive: { index, reply in
      while results.count <= index { results.append(nil) }
      results[index] = reply.inTime ?? .failure(timedOut(after: timeout))
      return true
    }
    return results.compactMap(\.self)
  }
}

// MARK: - Implementation

extension MulticastActor {
  /// Calls `body` with each delegate in a child task and passes the answers to `receive` on the
  /// actor, in the order in which the children end.
  ///
  /// - Parameter receive: called with the index of a delegate and its answer, in time or late.
  ///   Returns whether to continue; if not, the remaining children are cancelled and their answers
  ///   ignored.
  @inlinable
  func callConcurrently<Answer: Sendable>(
    limit: Int?, timeout: Duration?, clock: some Clock<Duration>,
    _ body: @escaping @Sendable (Delegate) async -> Answer,
    receive: (Int, DelegateAnswer<Answer>) -> Bool
  ) async {
    let limit = Self.checked(limit)
    let isEnqueued = isSerialized ? await enterQueue() : false
    let invocation = ConcurrentInvocation(entries, calls, body)
    let ancestry = TaskAncestry(calls: calls)
    await TaskAncestry.current.withValue(ancestry) {
      await withTaskGroup(of: Reply<Answer>.self) { group in
        let time = timeout.flatMap(\.asTimeout)
        let end = time.map { clock.now.advanced(by: $0) }
        var progress = ConcurrentProgress(
          count: invocation.snapshot.count, limit: limit, isOver: time == .zero)
        if let end, progress.phase == .calling {
          let scope = isSerialized ? InvocationScope(calls, nil) : nil
          group.addTask(executorPreference: scope) {
            await invocation.runTimer(until: end, clock, in: scope)
          }
        }
        while true {
          while let index = progress.begin() {
            let child = Child(index: index, call: calls.take(parent: ancestry.parent))
            if isSerialized {
              let scope = InvocationScope(calls, child.call)
              group.addTask(executorPreference: scope) {
                await invocation.run(child, in: scope).late(after: end, clock)
              }
            } else {
              group.addTask { await invocation.run(child).late(after: end, clock) }
            }
          }
          guard progress.running > 0, let reply = await group.next() else { break }
          // Cancelling the calling task stops the timer, so the clock is read here.
          if progress.phase == .calling && Task.isCancelled, let end, clock.now >= end {
            if progress.stop(.timeIsOver) { invocation.end() }
          }
          // The timer needs a thread, which calls may keep for longer than the time.
          if case .ended(_, _, isLate: true) = reply, progress.stop(.timeIsOver) {
            invocation.end()
            group.cancelAll()
          }
          switch reply {
          case .ended(let child, let answer, isLate: _):
            calls.release(child.call)
            switch progress.end() {
            case .calling where !receive(child.index, .inTime(answer)):
              if progress.stop(.decided) { invocation.end() }
              group.cancelAll()
            case .timeIsOver:
              _ = receive(child.index, .late(answer))
            case .calling, .decided:
              break
            }
          case .notCalled(let child):
            calls.release(child.call)
            if progress.end() == .timeIsOver && invocation.isLive(child.index) {
              _ = receive(child.index, .notCalled(invocation.snapshot.entries[child.index]))
            }
          case .timeIsOver where progress.stop(.timeIsOver):
            invocation.end()
            group.cancelAll()
          case .timeIsOver, .timerStopped:
            break
          }
        }
        group.cancelAll()  // The timer.
        while let index = progress.passLate() {
          if invocation.isLive(index) {
            _ = receive(index, .notCalled(invocation.snapshot.entries[index]))
          }
        }
      }
    }
    if invocation.sawDead { registry.pruneAfterInvocation() }
    if isEnqueued { leaveQueue() }
  }

  /// The result of a call that had not ended in time.
  @usableFromInline
  nonisolated func timedOut(after timeout: Duration?) -> DeliveryTimeoutError {
    DeliveryTimeoutError(timeout: timeout ?? .zero, hub: name)
  }

  /// The limit as a number: `Int.max` for `nil`.
  @usableFromInline
  static func checked(_ limit: Int?) -> Int {
    guard let limit else { return .max }
    require(
      limit >= 1,
      """
      Multicast: a limit of \(limit) would call no delegate; use a limit of at least 1, or nil for \
      no limit.
      """
    )
    return limit
  }
}
