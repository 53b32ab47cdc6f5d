/// Statistics of all topics.
///
/// With very many topics the sums take long, so they are computed outside of the board.
struct BoardStatistics: Sendable {
  /// Totals of topics that were removed.
  struct Departed {
    var published = 0
    var reached = 0
    var dropped = 0
  }

  let rooms: [Topic: Room]
  let departed: Departed
  let historyEvents: Int
  let historyBytes: Int
  /// The current second of the clock that the rates use.
  let second: Int
}

extension BoardStatistics {
  /// The statistics of each topic, sorted by name.
  ///
  /// - Complexity: O(n log n) for n topics.
  var topics: [TopicStatistics] {
    rooms.map { topic, room in room.statistics(topic, at: second) }.sorted { $0.topic < $1.topic }
  }

  /// Totals since the start, including removed topics.
  struct Totals {
    var published: Int
    var reached: Int
    var dropped: Int
    var pending = 0
  }

  /// - Complexity: O(topics).
  var totals: Totals {
    let start = Totals(
      published: departed.published, reached: departed.reached, dropped: departed.dropped)
    return rooms.reduce(into: start) { totals, room in
      let statistics = room.value.statistics(room.key, at: second)
      totals.published += statistics.published
      totals.reached += statistics.reached
      totals.dropped += statistics.dropped
      totals.pending += statistics.pending
    }
  }
}
