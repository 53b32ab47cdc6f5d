/// Counts of what happened to the events of a hub.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct HubStatistics: Sendable, Hashable, Codable {
  /// The number of subscribers: see ``EventHub/subscriberCount``.
  public internal(set) var subscribers = 0
  /// Events that wait in a buffer or are being delivered from it, counted for each subscriber.
  public internal(set) var pending = 0
  /// Events that were dropped because a buffer was full, or replaced by a newer event with the same
  /// key, counted for each subscriber, including past ones.
  public internal(set) var dropped = 0
  /// Those of ``dropped`` that a plain `send` could not put into a full buffer whose policy is
  /// `suspend`. `sendWaiting` would have waited for space, and `trySend` would have sent nothing.
  /// The hub writes a warning on standard error for the first one.
  public internal(set) var droppedWithoutWaiting = 0
  /// Events that were sent after `finish`, and refused. An event that no subscriber received while
  /// the hub finished counts too, also if a buffer dropped it.
  public internal(set) var refused = 0
  /// Events of a topic that a ``TopicHub`` retains; 0 for an ``EventHub``, also if that retains.
  public internal(set) var retained = 0
}

extension HubStatistics {
  /// Adds the counts of another hub.
  mutating func add(_ other: HubStatistics) {
    subscribers += other.subscribers
    pending += other.pending
    dropped += other.dropped
    droppedWithoutWaiting += other.droppedWithoutWaiting
    refused += other.refused
    retained += other.retained
  }

  /// Adds the counts of subscribers that read the log of a topic.
  mutating func add(_ counts: TopicReaderStatistics) {
    pending += counts.pending
    dropped += counts.dropped
    retained += counts.retained
  }
}
