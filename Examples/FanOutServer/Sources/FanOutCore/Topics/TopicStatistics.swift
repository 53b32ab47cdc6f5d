/// Statistics of one topic.
struct TopicStatistics: Sendable {
  var topic: String
  var subscribers: Int
  var published: Int
  var publishedPerSecond: Double
  /// Events put into buffers, counted per subscriber.
  var reached: Int
  var reachedPerSecond: Double
  /// Events dropped for slow subscribers, counted per subscriber.
  var dropped: Int
  /// Events waiting in buffers, counted per subscriber.
  var pending: Int
  /// Events kept for replay.
  var kept: Int
}
