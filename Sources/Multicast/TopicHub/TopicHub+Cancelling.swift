extension TopicHub {
  /// Ends every subscription to `topic`, and with the last one the topic; the hub itself goes on.
  /// See ``EventHub/cancelSubscriptions()``. Subscriptions to all topics and to patterns remain,
  /// and so do those with positions that name other topics too: what is sent to `topic` afterwards
  /// may reach them.
  ///
  /// - Parameter topic: one without subscribers is left alone, and so is what waits for the
  ///   subscribers of an earlier topic of this name that has finished.
  /// - Complexity: O(subscribers of `topic`, and all subscribers with positions and their topics).
  public func cancelSubscriptions(to topic: Topic) {
    topics.hub(of: topic)?.cancelSubscriptions()
    signals.endInactive()
  }

  /// Ends every subscription, and with them every topic; the hub itself goes on. What waits for
  /// subscribers of topics that have finished is discarded too. See
  /// ``EventHub/cancelSubscriptions()``.
  ///
  /// - Complexity: O(all subscribers), and O(largest number of topics so far).
  public func cancelSubscriptions() {
    for (_, hub) in topics.all { hub.cancelSubscriptions() }
    for target in finishedTopics.targets { target.registry.removeAll() }
    allTopics.cancelSubscriptions()
    for hub in crossTopic.patternHubs { hub.cancelSubscriptions() }
    LastCalls.shared.forget(allOf: ObjectIdentifier(allTopics.registry.hub))
    signals.endInactive(isCancelled: true)
  }
}
