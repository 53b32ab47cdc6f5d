/// Whether a hub keeps a delegate alive.
public enum Ownership: Sendable, Hashable, CaseIterable {
  /// The hub does not keep the delegate alive. It is retained for exactly the duration of each
  /// call, and forgotten once it is gone. Only instances of classes and actors can be held weakly.
  case weak
  /// The hub keeps the delegate alive until it is removed, or the hub itself is gone.
  case strong
}
