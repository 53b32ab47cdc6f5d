extension TopicHub {
  /// Returns when every event that was sent before to any topic has been handled by every
  /// subscriber, or discarded; also events of topics that were finished since. See
  /// ``EventHub/flush()``.
  ///
  /// - Complexity: O(all subscribers), O(largest number of topics so far), and the wait.
  public func flush() async {
    await HubFlush(targets: flushTargets).wait()
    // Afterwards: the topics pass their events on to these.
    await crossTopicFlush.wait()
    // And all of them tell handlers with positions to read.
    await HubFlush(targets: signals.flushedHubs.map { .init($0) }).wait()
  }

  /// Blocks the thread until every event that was sent before to any topic has been handled by
  /// every subscriber, or discarded, or until `timeout` has passed. See
  /// ``EventHub/flush(timeout:)``.
  ///
  /// - Parameter timeout: how long to wait at most. Zero or less: checks once without waiting. More
  ///   than 100 years: waits without a limit.
  /// - Returns: whether every event has been handled or discarded.
  /// - Complexity: as for ``flush()``.
  @available(*, noasync, message: "use the async flush() instead of blocking the thread")
  @discardableResult
  public func flush(timeout: Duration) -> Bool {
    // A hub without a replay has no handlers that the sender calls from a buffer.
    let start = ContinuousClock.now
    guard HubFlush(targets: flushTargets).wait(timeout: timeout, serve: {}) else { return false }
    // None of less than zero, of which some cannot be made less.
    var rest: Duration { max(.zero, timeout) - (ContinuousClock.now - start) }
    guard crossTopicFlush.wait(timeout: rest, serve: {}) else { return false }
    let hubs = signals.flushedHubs
    return HubFlush(targets: hubs.map { .init($0) }).wait(timeout: rest) {
      for hub in hubs { hub.serveHandlers() }
    }
  }

  /// Last calls of all handlers belong to it: their topics may have left the hub.
  private var crossTopicFlush: HubFlush<TopicEvent<Topic, Event>> {
    HubFlush(targets: crossTopic.flushTargets, lastCallsOf: allTopics.registry.hub)
  }

  private var flushTargets: [HubFlush<Event>.Target] {
    // In this order: a topic that finishes in the meantime may be in both, but not in neither.
    let current = topics.all.map { HubFlush<Event>.Target($0.hub) }
    return current + finishedTopics.targets
  }
}
