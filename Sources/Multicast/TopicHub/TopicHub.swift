public import Synchronization

/// An ``EventHub`` for each topic, made when the topic gets its first subscriber, and gone with its
/// last one.
///
/// ```swift
/// let channels = TopicHub<String, Message>()
/// let messages = channels.events(for: "swift")
/// channels.send(message, to: "swift")
/// for await message in messages { show(message) }
/// ```
///
/// It does not keep events for topics without subscribers, so it does not replay.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs, which includes the topic's `hash(into:)` and `==`.
public final class TopicHub<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  @usableFromInline let topics = TopicTable<Topic, Event>()
  let ordering: Ordering
  let storage: StorageStrategy
  /// How many topics there are when those are looked for whose last owners are gone.
  // Relaxed: a number to be looked at.
  let pruneCount = Atomic<Int>(64)
  /// Whether the whole hub has finished.
  // Sequentially consistent: see ``finish()``.
  @usableFromInline let isFinished = Atomic(false)

  /// Creates a hub without topics.
  ///
  /// - Parameters:
  ///   - ordering: in which order the subscribers of one topic see the events of several senders.
  ///   - storage: how the subscribers of a topic are stored.
  public init(ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree) {
    self.ordering = ordering
    self.storage = storage
  }
}

// MARK: - State

extension TopicHub {
  /// How many topics have subscribers; one whose owners are gone counts until it is pruned.
  ///
  /// - Complexity: O(1).
  public var topicCount: Int { topics.count }

  /// How many subscribers `topic` has. One whose owner is gone is never counted.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func subscriberCount(for topic: Topic) -> Int {
    topics.hub(of: topic)?.subscriberCount ?? 0
  }

  /// What became of the events of each topic that has subscribers.
  ///
  /// - Complexity: O(subscribers of all topics), and O(largest number of topics so far).
  public var statistics: [Topic: HubStatistics] {
    var statistics: [Topic: HubStatistics] = [:]
    for (topic, channel) in topics.all { statistics[topic] = channel.hub.statistics }
    return statistics
  }

  /// What became of the events of `topic`, or `nil` if it has no subscribers.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func statistics(for topic: Topic) -> HubStatistics? {
    topics.hub(of: topic)?.statistics
  }

  /// Ends `topic` for those who are subscribed now; see ``EventHub/finish()``. Whoever subscribes
  /// later begins anew.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func finish(_ topic: Topic) {
    if let channel = topics.channel(of: topic) { finish(channel, topic) }
  }

  /// Ends every topic, and the hub: there will be no more events. See ``EventHub/finish()``.
  ///
  /// Later subscribers end at once; later events reach nobody. Finishing again does nothing. If
  /// somebody subscribes to a topic meanwhile, another subscription of that topic may show its end a
  /// moment after this returns.
  ///
  /// - Complexity: O(subscribers of all topics), and O(largest number of topics so far).
  public func finish() {
    // Sequentially consistent, as is the table: a topic is in the table before its subscriber looks
    // at the flag. If it is not there yet when the table is read here, the subscriber sees the flag
    // and ends the topic itself.
    guard !isFinished.exchange(true, ordering: .sequentiallyConsistent) else { return }
    for (topic, channel) in topics.all { finish(channel, topic) }
  }

  func finish(_ channel: TopicChannel<Topic, Event>, _ topic: Topic) {
    channel.close()
    topics.remove(channel, of: topic)
    channel.hub.finish()
  }
}
