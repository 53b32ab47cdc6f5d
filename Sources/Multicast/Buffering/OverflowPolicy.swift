/// What happens to an event or a call that finds a buffer full.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum OverflowPolicy: Sendable, Hashable, CaseIterable {
  /// The element that has waited longest is dropped and counted.
  case dropOldest
  /// The new element is dropped and counted.
  case dropNewest
  /// `sendWaiting` suspends until the buffer has space: use it for every event of a hub with such a
  /// subscriber, or `trySend`, which sends nothing if a buffer is full. `send` and `invoke` cannot
  /// wait: they drop the new element, which is counted. The first time that happens in a hub,
  /// `send` writes a warning on standard error. See ``HubStatistics/droppedWithoutWaiting``.
  case suspend
  /// The new element is dropped and counted. The receiver gets what waits, and then its
  /// registration or subscription ends. See ``SubscriptionEnd/disconnected``.
  case disconnect
}
