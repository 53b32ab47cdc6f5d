internal import Synchronization

/// A handler that receives positions, and the place in the log of a hub that it has reached.
final class LogFollower<Event: Sendable>: Follower, @unchecked Sendable {
  // Sendable: `held` is used by the thread that drains the mailbox; the rest never changes.

  let reader: LogReader<Event>
  let progress = ReceiverProgress()
  /// What was read, and found the handler blocked.
  // SAFETY, of unchecked exclusivity: one thread uses it, and no access runs other code.
  @exclusivity(unchecked) private var held: LogElement?
  private let handler: @Sendable (PositionedEvent<Event>) -> Void
  private let callPositioned: PositionedEvent<Event>.Call

  /// - Parameter callPositioned: calls the handler with an event.
  init(
    _ reader: LogReader<Event>, _ callPositioned: @escaping PositionedEvent<Event>.Call,
    _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void
  ) {
    self.reader = reader
    self.callPositioned = callPositioned
    self.handler = handler
  }

  func deliver(to head: UnsafeMutablePointer<EntryHead>) {
    reader.readToGoal(atMost: LogCursor.share)
    while let element = held.take() ?? reader.nextElement() {
      // After the read, which may find what was sent during a block; and after the filter, which
      // may block or end the subscription.
      guard head.pointee.isActiveAndUnblocked else {
        held = element
        break
      }
      switch element {
      case .event(let item): callPositioned(item.envelope, reader.position(item.number), handler)
      case .missed(let range): report(range)
      }
    }
    let isDone = held == nil && reader.isAtGoal
    progress.add(calls: LogCursor.share, isComplete: isDone)
    if isDone { reader.goal = nil }
  }

  // Of its own, because it looks up the type of what the handler receives.
  @inline(never)
  private func report(_ range: MissedEvents) { handler(.missed(range)) }
}

extension EntryHead {
  /// Whether a handler may be called again in the same invocation: the next element of a drain.
  var isActiveAndUnblocked: Bool {
    // Acquiring: as in `Invocation.drain`. The frame holds the entry.
    let state = state.load(ordering: .acquiring)
    return EntryHead.isActive(state) && state & EntryHead.blocked == 0
  }
}
