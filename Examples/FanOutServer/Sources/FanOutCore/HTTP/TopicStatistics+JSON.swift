extension TopicStatistics {
  var json: String {
    JSON.object([
      ("topic", JSON.string(topic)),
      ("subscribers", "\(subscribers)"),
      ("published", "\(published)"),
      ("publishedPerSecond", "\(publishedPerSecond)"),
      ("reached", "\(reached)"),
      ("reachedPerSecond", "\(reachedPerSecond)"),
      ("dropped", "\(dropped)"),
      ("pending", "\(pending)"),
      ("kept", "\(kept)"),
    ])
  }
}
