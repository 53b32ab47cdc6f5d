/// What became of the events of one topic.
struct TopicStatistics: Sendable {
  var topic: String
  var subscribers: Int
  var published: Int
  var publishedPerSecond: Double
  /// Events that went into the buffers of subscribers, one for each.
  var reached: Int
  var reachedPerSecond: Double
  /// Events that were lost because a subscriber was too slow, one for each.
  var dropped: Int
  /// Events that wait for a subscriber, one for each.
  var pending: Int
  /// Events that can be replayed.
  var kept: Int
}
