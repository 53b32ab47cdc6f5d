/// A receiver of events.
///
/// Any number of delegates receive each event; none knows of the others. Several threads deliver
/// events at once, so a delegate guards its own state: hence `Sendable`.
protocol EventDelegate: AnyObject, Sendable {
  /// Receives one event.
  ///
  /// - Throws: what makes it pointless to go on, such as a full disk.
  func didReceive(_ event: Event) throws

  /// Called when there are no more events.
  ///
  /// - Returns: what the delegate has received.
  /// - Throws: what went wrong at the end.
  func didFinish() throws -> Summary
}
