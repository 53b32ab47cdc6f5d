internal import Multicast

/// A topic that somebody listens to or that has been published to: its hub, and its figures.
///
/// It belongs to the board, which alone touches it.
final class Room {
  let hub = EventHub<Entry>()
  /// How many streams there are, those that are still writing what they have among them.
  var streams = 0
  var published = 0
  /// How many events went into buffers, one for each subscriber.
  var reached = 0
  private var publishing = Rate()
  private var reaching = Rate()
}

extension Room {
  /// - Returns: how many subscribers it reached.
  func send(_ event: Event, at second: Int) -> Int {
    let count = hub.send(.event(event))
    published += 1
    reached += count
    publishing.add(at: second)
    reaching.add(count, at: second)
    return count
  }

  func figures(_ topic: Topic, kept: Int, at second: Int) -> TopicFigures {
    let statistics = hub.statistics
    return TopicFigures(
      topic: topic.name, subscribers: statistics.subscribers, published: published,
      publishedPerSecond: publishing.perSecond(at: second), reached: reached,
      reachedPerSecond: reaching.perSecond(at: second), dropped: statistics.dropped,
      pending: statistics.pending, kept: kept)
  }
}
