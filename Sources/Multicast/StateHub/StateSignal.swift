/// What a ``StateHub`` sends through its buffers: not states, but what to do about the state.
@usableFromInline
enum StateSignal<State: Sendable, Change: Sendable>: Sendable {
  /// The beginning of a subscription, or the end of its block: a snapshot, unless the subscriber
  /// has the state.
  case refresh
  /// A change, and the version of the state that has it: 0 until it is folded.
  case change(Change, version: UInt64)
  /// A change in place that is not folded yet.
  case edit(@Sendable (inout State) -> Void)
  /// A change in place, and the version of the state that has it.
  case edited(version: UInt64)
}
