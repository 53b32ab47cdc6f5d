extension TopicHub {
  /// Finishes `topic` for its current subscribers; see ``EventHub/finish()``. A later subscriber
  /// creates the topic again.
  ///
  /// - Parameter topic: one without subscribers is left alone.
  /// - Complexity: O(subscribers of `topic`), and for each that has positions O(its topics).
  public func finish(_ topic: Topic) {
    if let hub = topics.hub(of: topic) { finish(hub, topic, nil) }
  }

  /// Finishes `topic` for its current subscribers, with an error; see
  /// ``EventHub/finish(throwing:)``. A later subscriber creates the topic again, without the error.
  ///
  /// - Parameters:
  ///   - topic: one without subscribers is left alone.
  ///   - error: why the topic ends.
  /// - Complexity: O(subscribers of `topic`), and for each that has positions O(its topics).
  public func finish(_ topic: Topic, throwing error: any Error) {
    if let hub = topics.hub(of: topic) { finish(hub, topic, error) }
  }

  /// Finishes every topic, and the hub. See ``EventHub/finish()``.
  ///
  /// Later subscriptions end at once, those with positions after what is retained; later events
  /// reach no subscriber. Finishing again does nothing. If a thread subscribes to a topic
  /// concurrently, another subscription of that topic may end shortly after this returns.
  ///
  /// - Complexity: O(all subscribers), and O(largest number of topics so far); O(n²) for a handler
  ///   that senders call with the events of `n` topics and their positions.
  public func finish() {
    finish(nil)
  }

  /// Finishes every topic, and the hub, with an error, as ``finish()`` does without one. See
  /// ``EventHub/finish(throwing:)``.
  ///
  /// - Parameter error: why the hub ends.
  /// - Complexity: as for ``finish()``.
  public func finish(throwing error: any Error) {
    finish(error)
  }

  /// The error with which the whole hub has finished: that of ``finish(throwing:)``.
  ///
  /// - Complexity: O(1).
  public var failure: (any Error)? { completion.failure }

  private func finish(_ failure: (any Error)?) {
    // Sequentially consistent, as is the table: a thread that subscribes inserts the topic and then
    // reads the flag. If this does not find the topic in the table, that thread reads `true` and
    // finishes the topic itself.
    guard gate.complete(failure) else { return }
    perturb()
    retention?.log.close()
    for (topic, hub) in topics.all { finish(hub, topic, failure) }
    allTopics.finish(failure)
    // A thread that subscribes to a pattern makes its target, inside the lock of the index, and
    // then reads the flag: either this finds the target, or that thread finishes it.
    crossTopic.finishPatterns(failure)
  }

  /// - Parameter hub: that of `topic`.
  func finish(_ hub: EventHub<Event>, _ topic: Topic, _ failure: (any Error)?) {
    let channel = hub.channel(for: Topic.self)
    channel.close()
    // Before the topic leaves the table, so that a flush finds it in one of the two.
    finishedTopics.add(hub)
    topics.remove(channel, of: topic)
    // Before the subscribers end: they may send meanwhile, and another sender may end them later.
    // What is sent from now on is not for them. A sender that found the topic before has appended
    // its event to the log; only a `trySend` at the same time may append it later.
    // SAFETY: only the initialisers for topics that are strings set the retention.
    if let log = retention?.log {
      log.recordEnd(of: unsafeBitCast(topic, to: String.self), in: channel)
    }
    hub.finish(failure)
  }
}
