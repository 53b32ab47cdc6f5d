/// What happens to an event, or to a call, that finds a buffer full.
public enum OverflowPolicy: Sendable, Hashable, CaseIterable {
  /// The one that has waited longest is dropped, and counted.
  case dropOldest
  /// The new one is dropped, and counted.
  case dropNewest
  /// A sender that can wait suspends until there is room: `sendWaiting`. `send` and `invoke` cannot
  /// wait: they drop the new one, and it is counted.
  case suspend
  /// The new one is dropped, and counted. The receiver gets what waits, and then its registration or
  /// subscription ends. See ``SubscriptionEnd/disconnected``.
  case disconnect
}
