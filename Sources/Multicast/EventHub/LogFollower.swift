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
final class LogFollower<Event: Sendable>: Follower, @unchecked Sendable {
  // Sendable: `held` is used by the thread that drains the mailbox; the rest never changes.

  let reader: LogReader<Event>
  let progress = ReadingProgress()
  /// What was read, and found the handler blocked.
  private var held: PositionedEvent<Event>?
  private let handler: @Sendable (PositionedEvent<Event>) -> Void

  init(_ reader: LogReader<Event>, _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void)
  {
    self.reader = reader
    self.handler = handler
  }

  func deliver(to head: UnsafeMutablePointer<EntryHead>) {
    reader.readToGoal(atMost: LogReader<Event>.share)
    while let event = held.take() ?? reader.nextRead() {
      // After the read, which may find what was sent during a block; and after the filter, which may
      // block or end the subscription.
      guard head.pointee.isActiveAndUnblocked else {
        held = event
        break
      }
      handler(event)
    }
    let isDone = held == nil && reader.isAtGoal
    progress.isIncomplete = !isDone
    if isDone { reader.goal = nil }
  }
}

extension EntryHead {
  /// Whether a handler may be called again in the same invocation: the next element of a drain.
  var isActiveAndUnblocked: Bool {
    // Acquiring: as in `Invocation.drain`. The frame holds the entry.
    let state = state.load(ordering: .acquiring)
    return EntryHead.isActive(state) && state & EntryHead.blocked == 0
  }
}
