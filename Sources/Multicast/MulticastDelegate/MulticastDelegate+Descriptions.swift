extension MulticastDelegate {
  /// The name that `init` was given: it identifies the hub in descriptions and messages.
  ///
  /// - Complexity: O(1).
  public var name: String? { registry.name }
}

extension MulticastDelegate: CustomStringConvertible {
  /// The type, the name if there is one, the number of live delegates and the storage strategy.
  ///
  /// - Complexity: O(`count`).
  public var description: String {
    registry.description(of: "MulticastDelegate", for: Delegate.self)
  }
}

extension MulticastDelegate {
  /// As ``description``, for delegates that belong to an actor: the caller, which may be on any
  /// thread, becomes the last owner of none.
  package var descriptionWithoutReading: String {
    registry.description(
      of: "MulticastDelegate", for: Delegate.self, count: registry.lockedLiveCount)
  }
}

extension MulticastDelegate: CustomDebugStringConvertible {
  /// `description` and the types of the delegates, in registration order.
  ///
  /// - Complexity: O(`count`).
  public var debugDescription: String {
    registry.debugDescription(of: "MulticastDelegate", for: Delegate.self)
  }
}
