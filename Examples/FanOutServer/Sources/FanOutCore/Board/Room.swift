internal import Multicast
internal import NIOConcurrencyHelpers

/// A topic that somebody listens to or that has been published to: its hub, and its statistics.
///
/// The board alone changes it. Whoever looks at the statistics does so elsewhere, and delays nobody.
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
  /// - Parameter turn: the last one before it.
  /// - Returns: how many subscribers it reached.
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

  /// How many events have been sent.
  var published: Int { counts.withLockedValue(\.published) }

  /// How many streams there are, those that are still writing what they have among them.
  var streams: Int {
    get { counts.withLockedValue(\.streams) }
    set { counts.withLockedValue { $0.streams = newValue } }
  }

  /// How many of its events can be replayed.
  var kept: Int {
    get { counts.withLockedValue(\.kept) }
    set { counts.withLockedValue { $0.kept = newValue } }
  }

  /// Whether the topic can go.
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
