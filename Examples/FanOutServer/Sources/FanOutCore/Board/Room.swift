internal import Multicast
internal import NIOConcurrencyHelpers

/// A topic with subscribers or kept events: its hub, and its statistics.
///
/// Only the board changes it. Other threads read the statistics without waiting for the board.
final class Room: Sendable {
  private struct Counts {
    var streams = 0
    var kept = 0
    var published = 0
    var reached = 0
    var publishing = Rate()
    var reaching = Rate()
  }

  let hub = EventHub<Entry>()
  private let counts = NIOLockedValueBox(Counts())
}

extension Room {
  /// - Parameter turn: the last turn before the event.
  /// - Returns: the number of subscribers it reached.
  func send(_ event: Event, after turn: Turn, at second: Int) -> Int {
    let count = hub.send(Entry(event, turn))
    counts.withLockedValue { counts in
      counts.published += 1
      counts.reached += count
      counts.publishing.add(at: second)
      counts.reaching.add(count, at: second)
    }
    return count
  }

  /// The number of events sent.
  var published: Int { counts.withLockedValue(\.published) }

  /// The number of streams, including those that still write their last events.
  var streams: Int {
    get { counts.withLockedValue(\.streams) }
    set { counts.withLockedValue { $0.streams = newValue } }
  }

  /// The number of its events that are kept for replay.
  var kept: Int {
    get { counts.withLockedValue(\.kept) }
    set { counts.withLockedValue { $0.kept = newValue } }
  }

  /// Whether the topic can be removed.
  var isUnused: Bool { counts.withLockedValue { $0.streams == 0 && $0.kept == 0 } }

  func statistics(_ topic: Topic, at second: Int) -> TopicStatistics {
    let statistics = hub.statistics
    let counts = counts.withLockedValue { $0 }
    return TopicStatistics(
      topic: topic.name, subscribers: statistics.subscribers, published: counts.published,
      publishedPerSecond: counts.publishing.perSecond(at: second), reached: counts.reached,
      reachedPerSecond: counts.reaching.perSecond(at: second), dropped: statistics.dropped,
      pending: statistics.pending, kept: counts.kept)
  }
}
