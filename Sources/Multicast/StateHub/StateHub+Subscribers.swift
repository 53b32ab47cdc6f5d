extension StateHub {
  /// The number of subscribers, excluding those whose owner is gone.
  ///
  /// - Complexity: O(subscribers).
  public var subscriberCount: Int { hub.subscriberCount }

  /// The number of subscribers now, and each time it has changed, as an asynchronous sequence. See
  /// ``EventHub/subscriberCounts(buffering:)``.
  ///
  /// - Parameter buffering: how many numbers may wait.
  /// - Returns: the sequence, which does not keep the hub, and ends when that is released.
  /// - Complexity: amortised O(1).
  public func subscriberCounts(
    buffering: BufferingPolicy<Int> = .latest
  ) -> EventSequence<Int> {
    hub.subscriberCounts(buffering: buffering)
  }

  /// Returns when the hub has at least `count` subscribers: when the first has come, by default.
  /// See ``EventHub/waitForSubscribers(atLeast:)``.
  ///
  /// - Parameter count: the number of subscribers to wait for.
  /// - Returns: `false` if the hub has finished or the task was cancelled first.
  /// - Precondition: `count` is at least 1.
  /// - Complexity: amortised O(1), and the wait.
  @discardableResult
  public func waitForSubscribers(atLeast count: Int = 1) async -> Bool {
    await hub.waitForSubscribers(atLeast: count)
  }

  /// Returns when the hub has no subscribers: when the last has gone. After ``finish()``, that is
  /// when each has received what waits. See ``EventHub/waitForNoSubscribers()``.
  ///
  /// - Returns: `false` if the task was cancelled first.
  /// - Complexity: amortised O(1), and the wait.
  @discardableResult
  public func waitForNoSubscribers() async -> Bool { await hub.waitForNoSubscribers() }

  /// Ends every subscription; the hub itself goes on, keeps its state, and accepts changes and new
  /// subscribers. See ``EventHub/cancelSubscriptions()``.
  ///
  /// - Complexity: O(subscribers).
  public func cancelSubscriptions() { hub.cancelSubscriptions() }

  /// Counts of what waits in the buffers of the subscribers: changes, and the beginning of each
  /// subscription and the end of each block, which take a place too. One that is dropped makes the
  /// next update a snapshot. A change that a snapshot had already counts as delivered.
  ///
  /// - Complexity: O(subscribers).
  public var statistics: HubStatistics { hub.statistics }
}
