/// What a subscriber of a ``StateHub`` receives.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum StateUpdate<State: Sendable, Change: Sendable>: Sendable {
  /// The whole state: the first update, and the next one after changes that the subscriber
  /// did not receive.
  case snapshot(State)
  /// A change to the state that the updates so far make.
  case change(Change)
}

extension StateUpdate: Equatable where State: Equatable, Change: Equatable {}
extension StateUpdate: Hashable where State: Hashable, Change: Hashable {}
