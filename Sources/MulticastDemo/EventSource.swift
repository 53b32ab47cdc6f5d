/// A source of events.
///
/// ## Thread safety
/// Several threads take events concurrently. Each event goes to one of them.
protocol EventSource: AnyObject, Sendable {
  /// What the events are read from, for the report.
  var name: String { get }

  /// The number of events that were taken.
  var eventsRead: Int { get }

  /// The next few events, in order, or `nil` if there are no more. Waits for them if necessary.
  func next() throws -> [Event]?
}
