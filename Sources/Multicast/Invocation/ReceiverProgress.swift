/// How far the receiver of a mailbox has come, if an element may stand for many calls.
///
/// ## Thread safety
/// The thread that drains the mailbox.
final class ReceiverProgress: @unchecked Sendable {
  // Sendable: see "Thread safety".

  /// The largest number of calls after which a drain ends.
  static var share: Int { HandlerMailbox.share }

  /// The calls that the drain has made.
  private(set) var calls = 0
  /// Whether calls are left of the element that was received last.
  private(set) var isIncomplete = false
}

extension ReceiverProgress {
  /// A drain begins.
  func begin() { (calls, isIncomplete) = (0, false) }

  /// The receiver has made `count` calls for an element.
  ///
  /// - Parameter isComplete: whether these were all.
  func add(calls count: Int, isComplete: Bool) {
    calls += count
    isIncomplete = !isComplete
  }

  /// Whether the drain may go on with another element.
  var mayGoOn: Bool { !isIncomplete && calls < Self.share }
}
