/// What a ``StateHub`` sends through its buffers: not states, but what to do about the state.
@usableFromInline
enum StateSignal<State: Sendable, Change: Sendable>: Sendable {
  /// The beginning of a subscription.
  case begin
  /// The beginning of a subscription that is blocked: the next change is a reason for a snapshot.
  case beginLater
  /// A change, and the version of the state that has it: 0 until it is folded.
  case change(Change, version: UInt64)
  /// A change in place that is not folded yet.
  case edit(@Sendable (inout State) -> Void)
  /// A change in place, and the version of the state that has it.
  case edited(version: UInt64)
}

/// What a subscriber of a ``StateHub`` receives.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum StateUpdate<State: Sendable, Change: Sendable>: Sendable {
  /// The whole state: the first update, and the next one after changes that the subscriber lost.
  case snapshot(State)
  /// A change to the state that the updates so far make.
  case change(Change)
}

extension StateUpdate: Equatable where State: Equatable, Change: Equatable {}
extension StateUpdate: Hashable where State: Hashable, Change: Hashable {}

/// Turns the signals that reach one subscriber into updates.
///
/// A change continues what the subscriber has if it makes the next version. After any other change,
/// and at the beginning, the subscriber gets a snapshot; changes that the snapshot has are skipped.
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
  /// Whether `begin` will arrive. Then changes before it are in its snapshot.
  @exclusivity(unchecked) @usableFromInline var waitsForBegin: Bool

  /// - Parameter waitsForBegin: whether to skip changes that arrive before `begin`. If not, the
  ///   first of them is a reason for a snapshot, because a full buffer may have dropped `begin`.
  @usableFromInline
  init(_ cell: StateCell<State>, waitsForBegin: Bool = false) {
    self.cell = cell
    self.waitsForBegin = waitsForBegin
  }

  /// The update for `signal`; `nil` if the subscriber has it already.
  @inlinable
  func update(for signal: StateSignal<State, Change>) -> StateUpdate<State, Change>? {
    switch signal {
    case .begin:
      return snapshot()
    case .beginLater:
      waitsForBegin = false
      return nil
    case .change(let change, let next):
      guard let version else { return waitsForBegin ? nil : snapshot() }
      guard next > version else { return nil }
      guard next == version + 1 else { return snapshot() }
      self.version = next
      return .change(change)
    case .edited(let next):
      guard let version else { return waitsForBegin ? nil : snapshot() }
      return next > version ? snapshot() : nil
    case .edit:
      fatalError("Multicast: an edit reached a subscriber before it was folded")
    }
  }

  @usableFromInline @inline(never)
  func snapshot() -> StateUpdate<State, Change> {
    let (state, version) = cell.snapshot()
    self.version = version
    return .snapshot(state)
  }
}
