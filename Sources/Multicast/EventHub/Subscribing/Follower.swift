/// A handler that each delivery tells to read elsewhere.
///
/// ## Thread safety
/// The thread that drains the mailbox.
protocol Follower: AnyObject, Sendable {
  /// Tells the mailbox whether everything was read.
  var progress: ReceiverProgress { get }
  /// Passes what one read returns to the handler, as long as the entry at `head` is active and not
  /// blocked.
  func deliver(to head: UnsafeMutablePointer<EntryHead>)
}
