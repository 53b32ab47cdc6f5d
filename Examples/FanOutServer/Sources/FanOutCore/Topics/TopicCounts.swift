internal import Multicast
internal import NIOConcurrencyHelpers

/// What is counted of each topic, beside what its hub counts.
final class TopicCounts: Sendable {
  struct Counts {
    var published = 0
    var reached = 0
    fileprivate var publishing = Rate()
    fileprivate var reaching = Rate()
  }

  private struct State {
    var topics: [String: Counts] = [:]
    var all = Counts()
    /// The number of topics at which those are removed that the hub does not have any more.
    var limit = 64
  }

  private let hub: TopicHub<String, Event>
  private let clock = ContinuousClock()
  private let start = ContinuousClock.now
  private let state = NIOLockedValueBox(State())

  init(_ hub: TopicHub<String, Event>) {
    self.hub = hub
  }
}

extension TopicCounts {
  /// Counts an event.
  ///
  /// - Returns: the number of events of the topic.
  func add(_ topic: String, reached: Int) -> Int {
    let second = second
    let (published, isMany) = state.withLockedValue { state in
      state.all.published += 1
      state.all.reached += reached
      var counts = state.topics[topic] ?? Counts()
      counts.published += 1
      counts.reached += reached
      counts.publishing.add(at: second)
      counts.reaching.add(reached, at: second)
      state.topics[topic] = counts
      return (counts.published, state.topics.count > state.limit)
    }
    if isMany { removeUnused() }
    return published
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

  /// Totals since the start.
  var totals: (published: Int, reached: Int) {
    state.withLockedValue { ($0.all.published, $0.all.reached) }
  }

  func statistics(_ topic: String, _ hub: HubStatistics) -> TopicStatistics {
    let second = second
    let counts = state.withLockedValue { $0.topics[topic] } ?? Counts()
    return TopicStatistics(
      topic: topic, subscribers: hub.subscribers, published: counts.published,
      publishedPerSecond: counts.publishing.perSecond(at: second), reached: counts.reached,
      reachedPerSecond: counts.reaching.perSecond(at: second), dropped: hub.dropped,
      pending: hub.pending, kept: hub.retained)
  }

  private var second: Int { Int((clock.now - start).components.seconds) }
}
