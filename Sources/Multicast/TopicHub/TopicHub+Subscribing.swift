public import Dispatch
internal import Synchronization

extension TopicHub {
  /// Calls `handler` with each event of `topic` from now on. See
  /// ``EventHub/subscribe(on:buffering:where:_:)``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - queue: where to call the handler; `nil`: on the thread that sends.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Complexity: amortised O(1). Each time the number of topics has doubled, the next topic's
  ///   creation removes subscribers whose owners are gone: O(subscribers of all topics).
  public func subscribe(
    to topic: Topic, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> EventSubscription {
    withHub(of: topic) { $0.subscribe(on: queue, buffering: buffering, where: filter, handler) }
  }

  /// Calls `handler` with `owner` and each event of `topic`, as long as `owner` lives. See
  /// ``EventHub/subscribe(with:on:buffering:where:_:)``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - owner: the object with which the subscription ends; not kept alive.
  ///   - queue: where to call the handler; `nil`: on the thread that sends.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: as for ``subscribe(to:on:buffering:where:_:)``.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    to topic: Topic, with owner: Owner, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Owner, Event) -> Void
  ) -> EventSubscription {
    withHub(of: topic) {
      $0.subscribe(with: owner, on: queue, buffering: buffering, where: filter, handler)
    }
  }

  /// The events of `topic` from now on, as an asynchronous sequence. See
  /// ``EventHub/events(buffering:where:)``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence receives; called by senders.
  /// - Complexity: as for ``subscribe(to:on:buffering:where:_:)``.
  public func events(
    for topic: Topic, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil
  ) -> EventSequence<Event> {
    EventSequence { [weak self] in self?.withHub(of: topic) { $0.consumer(buffering, filter) } }
  }

  /// The first event of `topic` from now on that satisfies `predicate`; `nil` if the topic or the
  /// hub finishes, or the task is cancelled, first. See ``EventHub/first(where:)``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
  ///   - predicate: called by senders.
  /// - Complexity: as for ``subscribe(to:on:buffering:where:_:)``, and the wait.
  public func first(
    for topic: Topic, where predicate: @escaping @Sendable (Event) -> Bool
  ) async -> Event? {
    await events(for: topic, where: predicate).makeAsyncIterator().next()
  }
}

// MARK: - Implementation

extension TopicHub {
  /// Passes the hub of `topic` to `subscribe`, and counts as a user until that returns.
  private func withHub<R>(of topic: Topic, _ subscribe: (EventHub<Event>) -> R) -> R {
    // Sequentially consistent: see `finish`.
    guard !isFinished.load(ordering: .sequentiallyConsistent) else {
      // No other thread has this hub, so the subscription has ended when this returns.
      let hub = EventHub<Event>(ordering: ordering, storage: storage)
      hub.finish()
      return subscribe(hub)
    }
    while true {
      let channel = topics.channel(of: topic) { makeChannel(topic) }
      if channel.acquire() {
        defer { channel.release() }
        let subscription = subscribe(channel.hub)
        // Sequentially consistent: see `finish`, which may have begun since.
        if isFinished.load(ordering: .sequentiallyConsistent) { finish(channel, topic) }
        return subscription
      }
      // It closed after the lookup. The thread that closed it may not have removed it yet.
      topics.remove(channel, of: topic)
    }
  }

  /// Each time the number of topics has doubled, removes subscribers whose owners are gone, and
  /// with them topics without other subscribers.
  private func pruneTopics() {
    let limit = pruneLimit.load(ordering: .relaxed)
    guard limit < .max, topics.count >= limit else { return }
    // `.max`: a thread is pruning.
    guard
      pruneLimit.compareExchange(expected: limit, desired: .max, ordering: .relaxed).exchanged
    else { return }
    for (_, channel) in topics.all { channel.hub.registry.prune() }
    pruneLimit.store(max(64, 2 * topics.count), ordering: .relaxed)
  }

  private func makeChannel(_ topic: Topic) -> TopicChannel<Topic, Event> {
    pruneTopics()
    return TopicChannel(topic, in: topics, ordering, storage)
  }
}
