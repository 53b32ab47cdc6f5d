/// What an event loop writes in its turns: a stream, or a group of streams.
protocol TurnMember: AnyObject {
  /// The turn of the last write.
  var lastTurn: Int { get }

  /// Writes the events that there are, and takes what that costs from `budget`.
  ///
  /// - Returns: whether it is done for this turn. Otherwise the loop calls it again, after it has
  ///   served its sockets.
  func writePending(_ budget: inout TurnBudget) -> Bool
}

/// What one turn may still write, before the loop serves its sockets.
struct TurnBudget {
  var bytes = 1 << 20
  var streams = 1024

  var isSpent: Bool { bytes <= 0 || streams <= 0 }
}

/// Tells an event loop that a member of its turns has something to write.
final class TurnSignal: @unchecked Sendable {
  // Sendable: nothing changes. `member` is not Sendable, but only its event loop reads the
  // reference. A `NIOLoopBound` would be one more object, and one more check for each write.

  private let ready: ReadyStreams
  /// `nil` when the member is gone.
  weak let member: (any TurnMember)?

  init(_ member: any TurnMember, _ ready: ReadyStreams) {
    self.member = member
    self.ready = ready
  }

  /// Any thread may call it.
  func send() { ready.add(self) }
}
