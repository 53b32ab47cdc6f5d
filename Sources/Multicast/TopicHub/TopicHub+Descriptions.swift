extension TopicHub: CustomStringConvertible {
  /// The types, the name if there is one, the number of topics, that of patterns if there are any,
  /// and the storage strategy.
  ///
  /// - Complexity: O(1).
  public var description: String {
    let patterns = crossTopic.patterns.count
    let field = patterns > 0 ? "patterns: \(patterns), " : ""
    return """
      TopicHub<\(Topic.self), \(Event.self)>(\(nameField(name))topics: \(topicCount), \(field)\
      storage: \(storage.rawValue))
      """
  }
}
