internal import Multicast
internal import NIOConcurrencyHelpers

/// The statistics of all topics: what the hub counts, and what the server counts beside it.
///
/// With very many topics they take long: compute them on a thread of their own.
final class TopicCounts: Sendable {
  struct Counts {
    var published = 0
    var reached = 0
    /// Events that streams have missed, less those that the hub has counted.
    var dropped = 0
    fileprivate var publishing = Rate()
    fileprivate var reaching = Rate()

    fileprivate mutating func add(reached count: Int, at second: Int) {
      published += 1
      reached += count
      publishing.add(at: second)
      reaching.add(count, at: second)
    }
  }

  private struct State {
    var topics: [String: Counts] = [:]
    var all = Counts()
    /// The number of topics at which those are removed that the hub does not have any more.
    var limit = 64
  }

  private let hub: TopicHub<String, Event>
  private let streams: StreamCounts
  private let clock = ContinuousClock()
  private let start = ContinuousClock.now
  private let state = NIOLockedValueBox(State())

  init(_ hub: TopicHub<String, Event>, _ streams: StreamCounts) {
    self.hub = hub
    self.streams = streams
  }
}

extension TopicCounts {
  /// Counts an event.
  func add(_ topic: String, reached: Int) {
    let second = second
    let isMany = state.withLockedValue { state in
      state.all.published += 1
      state.all.reached += reached
      state.topics[topic, default: Counts()].add(reached: reached, at: second)
      return state.topics.count > state.limit
    }
    if isMany { removeUnused() }
  }

  /// Counts events that streams of a topic have missed, beside those that the hub has counted.
  func addDropped(_ count: Int, of topic: String) {
    guard count > 0 else { return }
    state.withLockedValue { state in
      state.all.dropped += count
      state.topics[topic, default: Counts()].dropped += count
    }
  }

  /// Amortised: at least half of the topics are removed, or twice as many may come.
  private func removeUnused() {
    let names = state.withLockedValue { Array($0.topics.keys) }
    let unused = names.filter { hub.statistics(for: $0) == nil }
    state.withLockedValue { state in
      for name in unused { state.topics[name] = nil }
      state.limit = max(64, 2 * state.topics.count)
    }
  }

  /// Totals since the start, including topics that are gone.
  struct Totals {
    var topics = 0
    var published = 0
    var reached = 0
    var dropped = 0
    var pending = 0
  }

  /// - Complexity: O(topics and streams).
  var totals: Totals {
    let current = hub.statistics
    let all = state.withLockedValue(\.all)
    return Totals(
      topics: current.count, published: all.published, reached: all.reached,
      dropped: hub.droppedEvents + all.dropped,
      pending: current.values.reduce(0) { $0 + $1.pending })
  }

  var retained: RetainedAmount { hub.retainedAmount }

  /// The statistics of each topic, sorted by name.
  ///
  /// - Complexity: O(n log n) for n topics.
  var topics: [TopicStatistics] {
    hub.statistics.map(statistics).sorted { $0.topic < $1.topic }
  }

  /// The statistics of a topic, also of one that there is not.
  func statistics(of topic: String) -> TopicStatistics {
    statistics(topic, hub.statistics(for: topic))
  }

  private func statistics(_ topic: String, _ statistics: HubStatistics?) -> TopicStatistics {
    let second = second
    let counts = state.withLockedValue { $0.topics[topic] } ?? Counts()
    return TopicStatistics(
      topic: topic, subscribers: streams.count(of: topic), published: counts.published,
      publishedPerSecond: counts.publishing.perSecond(at: second), reached: counts.reached,
      reachedPerSecond: counts.reaching.perSecond(at: second),
      dropped: (statistics?.dropped ?? 0) + counts.dropped, pending: statistics?.pending ?? 0,
      kept: statistics?.retained ?? 0)
  }

  private var second: Int { Int((clock.now - start).components.seconds) }
}
