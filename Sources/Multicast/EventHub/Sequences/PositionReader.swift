/// What an iterator reads, beside the events that tell it to read.
///
/// ## Thread safety
/// For the isolation that iterates only.
protocol ReadsAhead: AnyObject, Sendable {
  /// Whether something was read and not returned, or remains to be read up to the goal: then the
  /// consumer must not sleep.
  var mustContinue: Bool { get }
  /// Begins to handle a signal: its goal is the newest event now. Reads unless something was read.
  func beginSignal(atMost limit: Int)
  /// Ends what makes the iterator read, at the end of the iteration. It may be called again.
  func stopReading()
}

/// The reader of one kind of log.
protocol PositionReader<Element>: ReadsAhead {
  associatedtype Element
  /// Whether something was read and not returned.
  var hasRead: Bool { get }
  /// The next of what was read.
  func nextRead() -> Element?
  /// The number of events that were read and not returned.
  var readCount: Int { get }
  /// Whether every event up to the goal was returned, or there is no goal.
  var isAtGoal: Bool { get }
  /// As ``beginSignal(atMost:)``, unless a signal is being handled: then it keeps its goal.
  func readToGoal(atMost limit: Int)
  /// Reads more, after all was returned.
  ///
  /// - Returns: whether there is anything to return, which a filter may still exclude.
  func read(atMost limit: Int) -> Bool
  /// Discards what was read and not returned.
  func discardRead()
}

extension PositionReader {
  var mustContinue: Bool { hasRead || !isAtGoal }
}
