/// Who is told about the events.
///
/// Any number of delegates hear of each event; none knows of the others. Several threads deliver
/// events at once, so a delegate guards its own state: hence `Sendable`.
protocol EventDelegate: AnyObject, Sendable {
  /// Takes one event.
  ///
  /// - Throws: what makes it pointless to go on, such as a full disk.
  func didReceive(_ event: Event) throws

  /// Takes note that there are no more events.
  ///
  /// - Returns: what it has received.
  /// - Throws: what went wrong at the end.
  func didFinish() throws -> Summary
}
