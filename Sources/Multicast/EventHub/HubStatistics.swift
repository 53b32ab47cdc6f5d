/// Counts of what happened to the events of a hub.
public struct HubStatistics: Sendable, Hashable {
  /// The number of subscribers.
  public internal(set) var subscribers = 0
  /// Events that wait in a buffer or are being delivered from it, counted for each subscriber.
  public internal(set) var pending = 0
  /// Events that were dropped because a buffer was full, or replaced by a newer event with the same
  /// key, counted for each subscriber, including past ones.
  public internal(set) var dropped = 0
  /// Events that were sent after `finish`, and refused.
  public internal(set) var refused = 0
}
