/// What became of the events of one topic.
struct TopicFigures: Sendable {
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

/// What became of the events of all topics.
struct BoardFigures: Sendable {
  /// Sorted by name.
  var topics: [TopicFigures]
  /// Totals since the start; topics that are gone are among them.
  var published: Int
  var reached: Int
  var dropped: Int
  var pending: Int
  var historyEvents: Int
  var historyBytes: Int
  var lastID: EventID
}
