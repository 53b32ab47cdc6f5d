internal import Synchronization

extension EventHub {
  /// The number of subscribers now, and each time it has changed, as an asynchronous sequence.
  ///
  /// ```swift
  /// for await count in hub.subscriberCounts() { source.isPaused = count == 0 }
  /// ```
  ///
  /// By default a slow consumer gets the newest number only. A number is reported after the change,
  /// by the thread that made it or one that makes another change; changes that overlap may be
  /// reported as one. As for the hooks of the hub, a subscriber with a buffer counts until it has
  /// received what waits, and one whose owner is gone, until the next `send`. The sequence does not
  /// keep the hub, and ends when that is released.
  ///
  /// - Parameter buffering: how many numbers may wait.
  /// - Returns: the sequence, which goes on after ``finish()``: with subscribers that receive what
  ///   waits, and then leave.
  /// - Complexity: amortised O(1).
  public func subscriberCounts(
    buffering: BufferingPolicy<Int> = .latest
  ) -> EventSequence<Int> {
    state.observe().counts.events(buffering: buffering)
  }

  /// Returns when the hub has at least `count` subscribers: when the first has come, by default.
  ///
  /// ```swift
  /// await hub.waitForSubscribers()
  /// hub.send(event)   // not lost
  /// ```
  ///
  /// - Parameter count: the number of subscribers to wait for. See
  ///   ``subscriberCounts(buffering:)``.
  /// - Returns: `false` if the hub has finished or the task was cancelled first.
  /// - Precondition: `count` is at least 1.
  /// - Complexity: amortised O(1), and the wait.
  @discardableResult
  public func waitForSubscribers(atLeast count: Int = 1) async -> Bool {
    require(
      count >= 1,
      "Multicast: a wait for \(count) subscribers has no end to wait for; use at least 1.")
    let arrivals = state.observe().arrivals
    // Sequentially consistent: `finish` raises the flag before it reads the monitor.
    if state.isRaised.load(ordering: .sequentiallyConsistent) { return false }
    return await arrivals.first { [state] _ in state.total >= count } != nil
  }

  /// Returns when the hub has no subscribers: when the last has gone. After ``finish()``, that is
  /// when each has received what waits.
  ///
  /// - Returns: `false` if the task was cancelled first.
  /// - Complexity: amortised O(1), and the wait.
  @discardableResult
  public func waitForNoSubscribers() async -> Bool {
    await state.observe().departures.first { [state] _ in state.isEmpty } != nil
  }
}
