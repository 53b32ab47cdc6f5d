internal import Synchronization

/// A handler that each delivery tells to read elsewhere.
///
/// ## Thread safety
/// The thread that drains the mailbox.
protocol Follower: AnyObject, Sendable {
  /// Tells the mailbox whether everything was read.
  var progress: ReadingProgress { get }
  /// Passes what one read returns to the handler, as long as the entry at `head` is active and not
  /// blocked.
  func deliver(to head: UnsafeMutablePointer<EntryHead>)
}

/// A handler that receives positions, and the place in the log of a hub that it has reached.
final class LogFollower<Event: Sendable>: Follower {
  let reader: LogReader<Event>
  let progress = ReadingProgress()
  private let handler: @Sendable (PositionedEvent<Event>) -> Void

  init(_ reader: LogReader<Event>, _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void)
  {
    self.reader = reader
    self.handler = handler
  }

  func deliver(to head: UnsafeMutablePointer<EntryHead>) {
    reader.readToGoal(atMost: LogReader<Event>.share)
    while let event = reader.nextRead() {
      // The filter may have ended the subscription. If it has blocked it, this call has begun.
      guard reader.filter == nil || head.pointee.isActive else { break }
      handler(event)
      guard head.pointee.isActiveAndUnblocked else { break }
    }
    progress.isIncomplete = !reader.isAtGoal
    if reader.isAtGoal { reader.goal = nil }
  }
}

extension EntryHead {
  /// Whether the entry was not removed.
  var isActive: Bool { EntryHead.isActive(state.load(ordering: .acquiring)) }  // As below.

  /// Whether a handler may be called again in the same invocation: the next element of a drain.
  var isActiveAndUnblocked: Bool {
    // Acquiring: as in `Invocation.drain`. The frame holds the entry.
    let state = state.load(ordering: .acquiring)
    return EntryHead.isActive(state) && state & EntryHead.blocked == 0
  }
}
