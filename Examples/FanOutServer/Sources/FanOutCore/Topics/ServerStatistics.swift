internal import Multicast

/// Statistics of all topics.
///
/// With very many topics they take long: compute them on a thread of their own.
struct ServerStatistics: Sendable {
  private let hub: TopicHub<String, Event>
  private let counts: TopicCounts

  init(_ hub: TopicHub<String, Event>, _ counts: TopicCounts) {
    self.hub = hub
    self.counts = counts
  }
}

extension ServerStatistics {
  /// The statistics of each topic, sorted by name.
  ///
  /// - Complexity: O(n log n) for n topics.
  var topics: [TopicStatistics] {
    hub.statistics.map(counts.statistics).sorted { $0.topic < $1.topic }
  }

  /// Totals since the start, including topics that are gone.
  struct Totals {
    var topics = 0
    var published = 0
    var reached = 0
    var dropped = 0
    var pending = 0
    var retainedEvents = 0
    var retainedBytes = 0
  }

  /// - Complexity: O(topics).
  var totals: Totals {
    let current = hub.statistics
    let (published, reached) = counts.totals
    let retained = hub.retainedAmount
    return Totals(
      topics: current.count, published: published, reached: reached,
      dropped: hub.droppedEvents, pending: current.values.reduce(0) { $0 + $1.pending },
      retainedEvents: retained.events, retainedBytes: retained.bytes)
  }
}
