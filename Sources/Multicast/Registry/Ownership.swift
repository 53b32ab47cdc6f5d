/// Whether a hub keeps a delegate alive.
public enum Ownership: Sendable, Hashable, CaseIterable {
  /// The hub does not keep the delegate alive, but retains it for exactly the duration of each call.
  /// Only instances of classes and actors can be held weakly.
  case weak
  /// The hub keeps the delegate alive until it is removed or the hub is destroyed.
  case strong
}
