extension MulticastActor {
  /// What `body` returns or throws for each delegate, in registration order; the delegates are
  /// called concurrently.
  ///
  /// ```swift
  /// let stored = await hub.invokeConcurrently(limit: 8, timeout: .seconds(1)) {
  ///   try await $0.store(row)
  /// }
  /// ```
  ///
  /// Each delegate is called in a child task, on the global pool or on the task executor that the
  /// caller prefers. One failure does not stop the rest. The delegates are those that are
  /// registered at the beginning; one that is removed or dies before its child begins is not called
  /// and has no result. Cancellation of the calling task reaches every child; each delegate is
  /// called all the same.
  ///
  /// When the time is over, the children that have not ended are cancelled, those that have not
  /// begun do not call, and the result of both is ``DeliveryTimedOut``, whatever a late one
  /// returns. This function still waits for the late ones to end, since nothing that it has started
  /// outlives it: a delegate that ignores cancellation delays the results.
  ///
  /// - Parameters:
  ///   - limit: how many delegates may be called at once; `nil` for all of them.
  ///   - timeout: how much time there is for all of them together, from the moment the first may
  ///     begin; `nil`, or more than 100 years, for as long as it takes. If it is zero or less, the
  ///     time is over at once: no delegate is called.
  ///   - clock: what measures `timeout`. Its `sleep` must end when it is cancelled. If it throws an
  ///     error of its own, the time does not run out.
  ///   - body: what to do with a delegate. It may add, remove and invoke.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: O(`count`).
  @inlinable
  public func invokeConcurrently<T: Sendable>(
    limit: Int? = nil, timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (Delegate) async throws -> T
  ) async -> [Result<T, any Error>] {
    var results: [Result<T, any Error>?] = []
    await callConcurrently(limit: limit, timeout: timeout, clock: clock) {
      (delegate: Delegate) in
      await Result(of: body, delegate)
    } receive: { index, result in
      while results.count <= index { results.append(nil) }
      results[index] = result ?? .failure(DeliveryTimedOut(timeout: timeout ?? .zero))
      return true
    }
    return results.compactMap(\.self)
  }
}

// MARK: - The engine

extension MulticastActor {
  /// Calls `body` with each delegate, each in a child task, and hands the answers to `receive` on
  /// the actor, as they come.
  ///
  /// - Parameter receive: is given the index of a delegate and its answer, or `nil` if it came too
  ///   late. Returns whether to go on; if not, the children that are left are cancelled and their
  ///   answers ignored.
  @inlinable
  func callConcurrently<Answer: Sendable>(
    limit: Int?, timeout: Duration?, clock: some Clock<Duration>,
    _ body: @escaping @Sendable (Delegate) async -> Answer,
    receive: (Int, Answer?) -> Bool
  ) async {
    let limit = Self.checked(limit)
    let isEnqueued = isSerialized ? await enterQueue() : false
    let invocation = ConcurrentInvocation(snapshot, calls, body)
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
              group.addTask(executorPreference: scope) { await invocation.run(child, in: scope) }
            } else {
              group.addTask { await invocation.run(child) }
            }
          }
          guard progress.running > 0, let reply = await group.next() else { break }
          // The cancellation of the calling task stops the timer, not the time.
          if progress.phase == .calling && Task.isCancelled, let end, clock.now >= end {
            if progress.stop(.timeIsOver) { invocation.end() }
          }
          switch reply {
          case .ended(let child, let answer):
            calls.release(child.call)
            switch progress.end() {
            case .calling where !receive(child.index, answer):
              if progress.stop(.decided) { invocation.end() }
              group.cancelAll()
            case .timeIsOver:
              _ = receive(child.index, nil)
            case .calling, .decided:
              break
            }
          case .notCalled(let child):
            calls.release(child.call)
            if progress.end() == .timeIsOver && invocation.isLive(child.index) {
              _ = receive(child.index, nil)
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
          if invocation.isLive(index) { _ = receive(index, nil) }
        }
      }
    }
    if invocation.sawDead { registry.pruneAfterInvocation() }
    if isEnqueued { leaveQueue() }
  }

  /// The limit as a number, `Int.max` if there is none.
  @usableFromInline
  static func checked(_ limit: Int?) -> Int {
    guard let limit else { return .max }
    require(
      limit >= 1,
      """
      Multicast: a limit of \(limit) would call no delegate; use a limit of at least 1, or nil for \
      none.
      """
    )
    return limit
  }
}
