extension TopicHub where Topic == String {
  /// Adds the subscriber that `request` describes.
  func subscribe(
    matching patterns: some Sequence<TopicPattern>,
    _ request: SubscriptionRequest<TopicEvent<String, Event>>
  ) -> EventSubscription {
    withHub(matching: Set(patterns)) { $0.subscribe(request) }
  }

  /// Passes the hub of the subscribers with these patterns to `subscribe`, and counts as a user
  /// until that returns.
  func withHub<R>(
    matching patterns: Set<TopicPattern>,
    _ subscribe: (EventHub<TopicEvent<String, Event>>) -> R
  ) -> R {
    // Sequentially consistent: see `finish`.
    guard !isFinishedWithLog else {
      // No other thread has this hub, so the subscription has ended when this returns.
      let hub = EventHub<TopicEvent<String, Event>>(
        ordering: ordering, storage: storage, state: HubState())
      hub.finish(failure)
      return subscribe(hub)
    }
    let index = crossTopic.patterns
    let target = index.acquire(patterns) {
      prunePatterns()
      return PatternChannel<String, Event>(
        patterns, in: index, gate, ordering, storage, drops, common.carried,
        inspection)
    }
    defer { index.change(target, by: -1) }
    let hub = CrossTopicDelivery<String, Event>.hub(of: target.subject)
    let subscription = subscribe(hub)
    // Sequentially consistent: see `finish`, which may have begun since.
    if isFinishedWithLog { hub.finish(failure) }
    return subscription
  }

  /// Each time the number of sets of patterns has doubled, removes subscribers whose owners are
  /// gone.
  private func prunePatterns() {
    guard let targets = crossTopic.patterns.beginPruning() else { return }
    signals.prune()
    for target in targets {
      CrossTopicDelivery<String, Event>.hub(of: target.subject).registry.prune()
    }
    crossTopic.patterns.endPruning()
  }
}

// MARK: - State

extension TopicHub where Topic == String {
  /// The patterns that have subscribers, in no order; see ``TopicPattern``. Includes those whose
  /// subscribers' owners are gone, if these were not removed yet.
  ///
  /// - Complexity: O(patterns).
  public var patterns: Set<TopicPattern> {
    crossTopic.patterns.all.reduce(into: []) { $0.formUnion($1.patterns) }
  }

  /// The number of subscribers of `pattern`, alone or among several, excluding those whose owner is
  /// gone. A subscriber of another pattern does not count, even if that matches more.
  ///
  /// - Parameter pattern: equal to the one of the subscription.
  /// - Returns: the number.
  /// - Complexity: O(tokens of `pattern`), and O(subscribers with such patterns).
  public func subscriberCount(matching pattern: TopicPattern) -> Int {
    hubs(with: pattern).reduce(0) { $0 + $1.subscriberCount }
  }

  /// The number of subscribers that an event of `topic` reaches: those of the topic, of patterns
  /// that match it, and of all topics, excluding those whose owner is gone.
  ///
  /// - Parameter topic: the topic.
  /// - Returns: the number; a subscriber of several patterns counts once.
  /// - Complexity: O(tokens of `topic` × patterns that begin as it does), and O(these subscribers).
  public func subscriberCount(reaching topic: String) -> Int {
    let matching =
      crossTopic.hasPatterns
      ? crossTopic.patterns.withMatches(of: topic) { matches in
        (0..<matches.count).reduce(0) { count, index in
          count + CrossTopicDelivery<String, Event>.hub(of: matches[index]).subscriberCount
        }
      } : 0
    return subscriberCount(for: topic) + matching + crossTopic.allTopics.subscriberCount
  }

  /// The statistics of the subscribers of `pattern`, alone or among several; `nil` if there are
  /// none. They include what these subscribers received by their other patterns.
  ///
  /// - Parameter pattern: equal to the one of the subscription.
  /// - Returns: the statistics, or `nil`.
  /// - Complexity: as for ``subscriberCount(matching:)``.
  public func statistics(matching pattern: TopicPattern) -> HubStatistics? {
    let hubs = hubs(with: pattern)
    guard !hubs.isEmpty else { return nil }
    return hubs.reduce(into: HubStatistics()) { $0.add($1.statistics) }
  }

  /// Ends every subscription to `pattern`, alone or among several; the hub itself goes on. See
  /// ``EventHub/cancelSubscriptions()``. Subscriptions to other patterns remain, even if they match
  /// the same topics.
  ///
  /// - Parameter pattern: equal to the one of the subscription.
  /// - Complexity: as for ``subscriberCount(matching:)``, and O(all subscribers with positions).
  public func cancelSubscriptions(matching pattern: TopicPattern) {
    for hub in hubs(with: pattern) { hub.cancelSubscriptions() }
    signals.endInactive()
  }

  private func hubs(with pattern: TopicPattern) -> [EventHub<TopicEvent<String, Event>>] {
    crossTopic.patterns.targets(with: pattern).map {
      CrossTopicDelivery<String, Event>.hub(of: $0.subject)
    }
  }
}
