/// Whether a hub keeps a delegate alive.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum Ownership: Sendable, Hashable, CaseIterable {
  /// The hub does not keep the delegate alive, but retains it for exactly the duration of each
  /// call. Only instances of classes and actors can be held weakly.
  case weak
  /// The hub keeps the delegate alive until it is removed or the hub is destroyed.
  case strong
}
