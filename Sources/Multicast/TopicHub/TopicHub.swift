internal import Synchronization

/// An ``EventHub`` for each topic, made when the topic gets its first subscriber, and gone with its
/// last one.
///
/// ```swift
/// let rooms = TopicHub<String, Message>()
/// let messages = rooms.events(for: "swift")
/// rooms.send(message, to: "swift")
/// ```
///
/// It does not keep events for topics without subscribers, so it does not replay.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs, which includes the topic's `hash(into:)` and `==`.
public final class TopicHub<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  let topics = TopicTable<Topic, Room<Event>>()
  let ordering: Ordering
  let storage: StorageStrategy
  /// How many topics there are when those are looked for whose last owners are gone.
  // Relaxed: a number to be looked at.
  let pruneCount = Atomic<Int>(64)

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
    topics.value(for: topic)?.hub.subscriberCount ?? 0
  }

  /// What became of the events of each topic that has subscribers.
  ///
  /// - Complexity: O(subscribers of all topics), and O(largest number of topics so far).
  public var statistics: [Topic: HubStatistics] {
    var statistics: [Topic: HubStatistics] = [:]
    for (topic, room) in topics.all { statistics[topic] = room.hub.statistics }
    return statistics
  }

  /// What became of the events of `topic`, or `nil` if it has no subscribers.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func statistics(for topic: Topic) -> HubStatistics? {
    topics.value(for: topic)?.hub.statistics
  }

  /// Ends `topic` for those who are subscribed now; see ``EventHub/finish()``. Whoever subscribes
  /// later begins anew.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func finish(_ topic: Topic) {
    guard let room = topics.value(for: topic) else { return }
    room.close()
    topics.remove(room, for: topic)
    room.hub.finish()
  }
}
