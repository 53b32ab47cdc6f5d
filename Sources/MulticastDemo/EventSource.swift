/// Where the events come from.
///
/// ## Thread safety
/// Several threads take events from it at once. Each event goes to one of them.
protocol EventSource: AnyObject, Sendable {
  /// What the events are read from, for a reader of the report.
  var name: String { get }

  /// How many events it has given out.
  var eventsRead: Int { get }

  /// The next few events, in order, or `nil` if there are no more. Waits for them if need be.
  func next() throws -> [Event]?
}
