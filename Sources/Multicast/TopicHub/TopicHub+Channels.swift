internal import Synchronization

extension TopicHub {
  /// Adds the subscriber that `request` describes.
  func subscribe(
    to topic: Topic, _ request: SubscriptionRequest<Event>
  ) -> EventSubscription {
    withHub(of: topic) { $0.subscribe(request) }
  }

  /// Passes the hub of `topic` to `subscribe`, and counts as a user until that returns.
  func withHub<R>(of topic: Topic, _ subscribe: (EventHub<Event>) -> R) -> R {
    // Sequentially consistent: see `finish`.
    guard !isFinishedWithLog else {
      // No other thread has this hub, so the subscription has ended when this returns.
      let hub = EventHub<Event>(ordering: ordering, storage: storage, state: HubState())
      hub.finish(failure)
      return subscribe(hub)
    }
    while true {
      let hub = topics.hub(of: topic) { makeHub(topic) }
      let channel = hub.channel(for: Topic.self)
      if channel.acquire() {
        defer { channel.release() }
        let subscription = subscribe(hub)
        // Sequentially consistent: see `finish`, which may have begun since.
        if isFinishedWithLog { finish(hub, topic, failure) }
        return subscription
      }
      // It closed after the lookup. The thread that closed it may not have removed it yet.
      topics.remove(channel, of: topic) { finishedTopics.addIfOrdered($0) }
    }
  }

  /// Whether the whole hub has finished. Then the log refuses every later event, also if the
  /// thread that finishes the hub has not come so far: the caller ends subscribers, which read what
  /// the log has then.
  var isFinishedWithLog: Bool {
    guard gate.isFinished else { return false }
    perturb()
    retention?.log.close()
    return true
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
    signals.prune()
    for (_, hub) in topics.all { hub.registry.prune() }
    pruneLimit.store(max(64, 2 * topics.count), ordering: .relaxed)
  }

  private func makeHub(_ topic: Topic) -> EventHub<Event> {
    pruneTopics()
    return EventHub(
      ordering: ordering, storage: storage, state: TopicChannel(topic, common))
  }
}
