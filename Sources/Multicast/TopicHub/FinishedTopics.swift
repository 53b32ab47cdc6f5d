/// The hubs of topics that have ended, as long as subscribers receive what waits, or a thread
/// delivers what is pending.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class FinishedTopics<Event: Sendable>: @unchecked Sendable {
  // Sendable: `topics`, `limit` and `generation` are accessed inside `lock` alone.

  private struct Topic {
    /// Kept by the subscribers and their handles, and by threads that deliver.
    weak var registry: Registry?
    let sequencer: EventSequencer<Event>?
  }

  /// Guards the list. What is removed from it is destroyed outside.
  private let lock = Lock()
  private var topics: [Topic] = []
  /// The number of topics at which those without subscribers are removed.
  private var limit = 16
  /// The number of times that topics were removed.
  private var generation = 0

  /// Adds a hub that is about to finish.
  ///
  /// - Complexity: amortised O(1).
  func add(_ hub: EventHub<Event>) {
    let (registry, sequencer) = (hub.registry, hub.sequencer)
    let full = lock.withLock { () -> ([Topic], generation: Int)? in
      topics.append(Topic(registry: registry, sequencer: sequencer))
      return topics.count >= limit ? (topics, generation) : nil
    }
    if let full { prune(full.0, full.generation) }
  }

  /// Adds a hub without subscribers, whose topic is about to leave its table, if a thread delivers
  /// through it: other senders may have left events to that thread.
  ///
  /// - Complexity: amortised O(1).
  func addIfDelivering(_ hub: EventHub<Event>) {
    if hub.sequencer?.isDelivering == true { add(hub) }
  }

  /// The number of topics in the list.
  var count: Int { lock.withLock { topics.count } }

  var targets: [HubFlush<Event>.Target] {
    let topics = lock.withLock { self.topics }
    return topics.compactMap { topic in
      topic.registry.map { HubFlush<Event>.Target($0, topic.sequencer) }
    }
  }

  /// Removes the topics without subscribers, through which no thread delivers, from the first ones,
  /// which are `full`.
  private func prune(_ full: [Topic], _ current: Int) {
    // Outside the lock: this may release the last reference to a registry.
    let rest = full.filter {
      ($0.registry?.count ?? 0) > 0 || $0.sequencer?.isDelivering == true
    }
    let old = lock.withLock { () -> [Topic] in
      guard generation == current else { return [] }
      let old = topics
      topics = rest + topics[full.count...]
      limit = max(16, 2 * topics.count)
      generation += 1
      return old
    }
    withExtendedLifetime(old) {}  // Destroyed here, outside the lock.
  }
}

extension EventSequencer {
  /// Whether a thread delivers, so that events may be pending.
  fileprivate var isDelivering: Bool { lock.withLock { role.isTaken } }
}
