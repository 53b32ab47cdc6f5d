extension TopicPattern {
  /// Whether the pattern matches `topic`.
  ///
  /// - Parameter topic: tokens separated by dots.
  /// - Returns: `false` also for a topic with an empty token.
  /// - Complexity: O(pattern and topic): there is no backtracking. No allocation for ASCII text.
  public func matches(_ topic: String) -> Bool {
    var (pattern, topic) = (description, topic)
    return pattern.withUTF8 { pattern in
      topic.withUTF8 { topic in
        Self.matches(TopicTokens(pattern), TopicTokens(topic))
      }
    }
  }

  private static func matches(_ pattern: TopicTokens, _ topic: TopicTokens) -> Bool {
    var (pattern, topic) = (pattern, topic)
    while let wanted = pattern.next() {
      guard let token = topic.next(), !token.isEmpty else { return false }
      if wanted.isRest { return !topic.hasEmptyToken() }
      guard wanted.isStar || wanted.isEqual(token) else { return false }
    }
    return topic.isAtEnd
  }
}

extension TopicTokens.Token {
  /// Whether two tokens are canonically equivalent.
  fileprivate func isEqual(_ other: Self) -> Bool {
    if bytes.elementsEqual(other.bytes) { return true }
    return !(isASCII && other.isASCII) && text == other.text
  }
}
