extension MulticastActor {
  /// The name that `init` was given: it identifies the hub in descriptions and messages.
  ///
  /// - Complexity: O(1).
  public nonisolated var name: String? { registry.name }
}

extension MulticastActor: CustomStringConvertible {
  /// The type, the name if there is one, the number of live delegates and the storage strategy.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var description: String {
    registry.description(of: "MulticastActor", for: Delegate.self)
  }
}

extension MulticastActor: CustomDebugStringConvertible {
  /// `description` and the types of the delegates, in registration order.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var debugDescription: String {
    registry.debugDescription(of: "MulticastActor", for: Delegate.self)
  }
}
