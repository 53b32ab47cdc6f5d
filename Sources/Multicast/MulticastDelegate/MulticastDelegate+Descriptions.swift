extension MulticastDelegate: CustomStringConvertible {
  /// The type, the number of live delegates and the storage strategy.
  public var description: String {
    "MulticastDelegate<\(Delegate.self)>(count: \(count), storage: \(registry.strategy.rawValue))"
  }
}

extension MulticastDelegate: CustomDebugStringConvertible {
  /// As `description`, with the types of the delegates in registration order.
  public var debugDescription: String {
    let types = delegates.map { "\(type(of: $0 as Any))" }.joined(separator: ", ")
    return "\(description) [\(types)]"
  }
}
