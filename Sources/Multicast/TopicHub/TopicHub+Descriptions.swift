extension TopicHub: CustomStringConvertible {
  /// The types, the name if there is one, the number of topics and the storage strategy.
  public var description: String {
    """
    TopicHub<\(Topic.self), \(Event.self)>(\(nameField(name))topics: \(topicCount), \
    storage: \(storage.rawValue))
    """
  }
}
