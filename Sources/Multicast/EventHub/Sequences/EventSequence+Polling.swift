extension EventSequence {
  /// What a wait with a timeout has found; see ``Iterator/next(timeout:)``.
  public enum TimedResult: Sendable {
    /// The next event.
    case event(Event)
    /// No event came in time. The subscription goes on.
    case timedOut
    /// No more events will come: as `nil` from ``Iterator/next()``.
    case ended
  }
}

extension EventSequence.TimedResult: Equatable where Event: Equatable {}
extension EventSequence.TimedResult: Hashable where Event: Hashable {}

extension EventSequence.Iterator {
  /// The next event if one waits, without suspending; `nil` if none waits now, at the end, and if
  /// the task is cancelled, which ends the subscription.
  ///
  /// ```swift
  /// while let event = iterator.nextIfAvailable() { show(event) }   // what has arrived so far
  /// ```
  ///
  /// If ``end`` is not `nil` before a call that returns `nil`, no more events will come. This never
  /// yields to other tasks: a task that polls should suspend in between, for example in
  /// `next(timeout:)`.
  ///
  /// - Returns: the event, or `nil`.
  /// - Complexity: amortised O(1).
  public func nextIfAvailable() -> Event? {
    consumer.nextIfAvailable()?.event(Event.self)
  }

  /// The next event, unless none comes within `timeout`. The subscription goes on after a timeout,
  /// and drops no event because of it.
  ///
  /// ```swift
  /// switch await iterator.next(timeout: .seconds(5)) {
  /// case .event(let price): show(price)
  /// case .timedOut: showDelay()
  /// case .ended: return
  /// }
  /// ```
  ///
  /// - Parameter timeout: how long to wait at most. Zero or less: checks once without waiting for
  ///   an event. More than 100 years: waits without a limit.
  /// - Returns: the event, that the time is over, or that no more follow.
  /// - Complexity: amortised O(1), and the wait.
  public func next(timeout: Duration) async -> EventSequence<Event>.TimedResult {
    await next(timeout: timeout, isolation: #isolation)
  }

  /// As ``next(timeout:)``, on the isolation of the caller.
  ///
  /// - Parameters:
  ///   - timeout: as for ``next(timeout:)``.
  ///   - actor: the isolation of the caller.
  /// - Returns: the event, that the time is over, or that no more follow.
  /// - Complexity: amortised O(1), and the wait.
  public func next(
    timeout: Duration, isolation actor: isolated (any Actor)?
  ) async -> EventSequence<Event>.TimedResult {
    switch await consumer.next(timeout: timeout) {
    case .event(let event): .event(event.event(Event.self))
    case .timedOut: .timedOut
    case .ended: .ended
    }
  }
}
