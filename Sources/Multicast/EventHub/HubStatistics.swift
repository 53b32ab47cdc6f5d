/// What became of the events of a hub.
public struct HubStatistics: Sendable, Hashable {
  /// How many subscribers there are.
  public internal(set) var subscribers = 0
  /// Events that wait for a subscriber, or are being delivered from its buffer; one for each
  /// subscriber.
  public internal(set) var pending = 0
  /// Events that were lost because a buffer was full, or because a newer one took their place; one
  /// for each subscriber, those that are gone among them.
  public internal(set) var dropped = 0
  /// Events that were sent after `finish`, and refused.
  public internal(set) var refused = 0
}
