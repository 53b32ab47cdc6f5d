public import Dispatch
internal import Synchronization

extension TopicHub {
  /// Calls `handler` with each event of `topic` from now on. See
  /// ``EventHub/subscribe(on:buffering:where:_:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - queue: where to call the handler; `nil`: where the event is sent.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber gets; called by senders. Others take no channel in the
  ///     buffer.
  ///   - handler: what to do with an event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when it goes away. After ``finish()``, a
  ///   subscription that has ended.
  /// - Complexity: amortised O(1). Whenever the number of topics has doubled, the one that makes the
  ///   next also looks for dead owners: O(subscribers of all topics).
  public func subscribe(
    to topic: Topic, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> Subscription {
    enter(topic) { $0.subscribe(on: queue, buffering: buffering, where: filter, handler) }
  }

  /// Calls `handler` with `owner` and each event of `topic`, as long as `owner` lives. See
  /// ``EventHub/subscribe(with:on:buffering:where:_:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - owner: whose subscription it is; not kept alive.
  ///   - queue: where to call the handler; `nil`: where the event is sent.
  ///   - buffering: how many events may wait for the handler, if it has a queue.
  ///   - filter: which events the subscriber gets; called by senders.
  ///   - handler: what to do with an event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: as for ``subscribe(to:on:buffering:where:_:)``.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    to topic: Topic, with owner: Owner, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (Owner, Event) -> Void
  ) -> Subscription {
    enter(topic) {
      $0.subscribe(with: owner, on: queue, buffering: buffering, where: filter, handler)
    }
  }

  /// The events of `topic` from now on, as an asynchronous sequence. See
  /// ``EventHub/events(buffering:where:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - buffering: how many events may wait.
  ///   - filter: which events the sequence gets; called by senders.
  /// - Complexity: as for ``subscribe(to:on:buffering:where:_:)``.
  public func events(
    for topic: Topic, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil
  ) -> EventSequence<Event> {
    EventSequence { [weak self] in self?.enter(topic) { $0.consumer(buffering, filter) } }
  }

  /// The first event of `topic` from now on that satisfies `predicate`, or `nil` if the topic is
  /// finished, or the hub, or the task is cancelled before. See ``EventHub/first(where:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - predicate: called by senders, as a filter is.
  /// - Complexity: as for ``subscribe(to:on:buffering:where:_:)``, and the wait.
  public func first(
    for topic: Topic, where predicate: @escaping @Sendable (Event) -> Bool
  ) async -> Event? {
    let iterator = events(for: topic, where: predicate).makeIterator()
    return await iterator.next()
  }
}

// MARK: - How

extension TopicHub {
  /// Subscribes to the hub of `topic` in such a way that the hub cannot vanish meanwhile.
  private func enter<R>(_ topic: Topic, _ subscribe: (EventHub<Event>) -> R) -> R {
    // Sequentially consistent: see `finish`.
    guard !isFinished.load(ordering: .sequentiallyConsistent) else {
      // Nobody else has this hub, so the subscription has ended when this returns.
      let hub = EventHub<Event>(ordering: ordering, storage: storage)
      hub.finish()
      return subscribe(hub)
    }
    while true {
      let channel = topics.channel(of: topic) { makeChannel(topic) }
      if channel.enter() {
        defer { channel.leave() }
        let subscription = subscribe(channel.hub)
        // Sequentially consistent: see `finish`. It may have begun meanwhile.
        if isFinished.load(ordering: .sequentiallyConsistent) { finish(channel, topic) }
        return subscription
      }
      // It closed after we found it: whoever closed it is removing it; help.
      topics.remove(channel, of: topic)
    }
  }

  /// Lets topics go whose last owners are gone, whenever the number of topics has doubled.
  private func pruneTopics() {
    let limit = pruneCount.load(ordering: .relaxed)
    guard limit < .max, topics.count >= limit else { return }
    // One thread at a time.
    guard
      pruneCount.compareExchange(expected: limit, desired: .max, ordering: .relaxed).exchanged
    else { return }
    for (_, channel) in topics.all { channel.hub.registry.prune() }
    pruneCount.store(max(64, 2 * topics.count), ordering: .relaxed)
  }

  private func makeChannel(_ topic: Topic) -> TopicChannel<Topic, Event> {
    pruneTopics()
    return TopicChannel(topic, in: topics, ordering, storage)
  }
}
