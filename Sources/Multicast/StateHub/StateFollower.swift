/// Turns the signals that reach one subscriber into updates.
///
/// A change continues what the subscriber has if it makes the next version. After any other
/// change, at the beginning, and after a block during which the state changed, the subscriber gets
/// a snapshot; changes that the snapshot has are skipped.
///
/// ## Thread safety
/// One call at a time: the mailbox of the subscriber, or the sequencer of the hub, delivers one
/// signal after the other.
@usableFromInline
final class StateFollower<State: Sendable, Change: Sendable>: @unchecked Sendable {
  // Sendable: see "Thread safety"; the lock of the mailbox, or of the sequencer for a handler that
  // senders call, hands the version from thread to thread.

  // SAFETY, of unchecked exclusivity: see "Thread safety"; no access runs other code.

  private let cell: StateCell<State>
  /// The version of what the subscriber has; `nil` before the first snapshot.
  @exclusivity(unchecked) @usableFromInline var version: UInt64?
  /// Whether to skip changes that arrive before the first `refresh`: they are in its snapshot. If
  /// not, the first of them is a reason for a snapshot, because a full buffer may have dropped
  /// `refresh`.
  @usableFromInline let waitsForRefresh: Bool

  /// - Parameter waitsForRefresh: whether the first `refresh` will arrive.
  @usableFromInline
  init(_ cell: StateCell<State>, waitsForRefresh: Bool = false) {
    self.cell = cell
    self.waitsForRefresh = waitsForRefresh
  }

  /// The update for `signal`; `nil` if the subscriber has it already.
  @inlinable
  func update(for signal: StateSignal<State, Change>) -> StateUpdate<State, Change>? {
    switch signal {
    case .refresh:
      return snapshot()
    case .change(let change, let next):
      guard let version else { return waitsForRefresh ? nil : snapshot() }
      guard next > version else { return nil }
      guard next == version + 1 else { return snapshot() }
      self.version = next
      return .change(change)
    case .edited(let next):
      guard let version else { return waitsForRefresh ? nil : snapshot() }
      return next > version ? snapshot() : nil
    case .edit:
      fatalError("Multicast: an edit reached a subscriber before it was folded")
    }
  }

  /// A snapshot; `nil` if the subscriber has the state already.
  @usableFromInline @inline(never)
  func snapshot() -> StateUpdate<State, Change>? {
    let (state, current) = cell.snapshot()
    guard version.map({ $0 < current }) ?? true else { return nil }
    version = current
    return .snapshot(state)
  }
}
