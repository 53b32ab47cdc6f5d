extension EventHub {
  /// The name that `init` was given: it identifies the hub in descriptions and messages.
  ///
  /// - Complexity: O(1).
  public var name: String? { registry.name }
}

extension EventHub: CustomStringConvertible {
  /// The type, the name if there is one, the number of subscribers and the storage strategy.
  ///
  /// - Complexity: O(subscribers).
  public var description: String {
    """
    EventHub<\(Event.self)>(\(nameField(name))subscribers: \(subscriberCount), \
    storage: \(registry.strategy.rawValue))
    """
  }
}
