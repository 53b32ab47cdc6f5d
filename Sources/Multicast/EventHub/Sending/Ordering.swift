/// The order in which the subscribers of a hub see the events of several senders.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum Ordering: Sendable, Hashable, CaseIterable {
  /// Each subscriber sees each sender's events in order, except those that handlers send (see
  /// ``EventHub/send(_:)``); two subscribers may see the events of two senders in different orders.
  /// The default, and the fastest: senders do not wait for each other.
  ///
  /// An `EventHub` with a replay, or one that retains, nevertheless has one order, that of the
  /// events it keeps: each subscriber's last event is the newest that the hub keeps, unless its
  /// filter or policy excludes that.
  case perSender
  /// All subscribers see all events in one order. A sender that finds another thread delivering, or
  /// an outer call on its own thread, leaves its event to that one and returns.
  case total
}
