/// The hubs of topics that have ended, as long as subscribers receive what waits, or threads send
/// through a hub with one order: one of them may leave its event to another one.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class FinishedTopics<Event: Sendable>: @unchecked Sendable {
  // Sendable: `topics`, `limit` and `generation` are accessed inside `lock` alone.

  private struct Topic {
    /// Kept by the subscribers and their handles, and by threads that send.
    let registry: UnownedReference<Registry>
    /// Kept by threads that send. `nil`: no thread leaves an event to another one.
    let sequencer: UnownedReference<EventSequencer<Event>>?
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
    let topic = Topic(
      registry: UnownedReference(hub.registry), sequencer: hub.sequencer.map(UnownedReference.init))
    let full = lock.withLock { () -> ([Topic], generation: Int)? in
      topics.append(topic)
      return topics.count >= limit ? (topics, generation) : nil
    }
    if let full { prune(full.0, full.generation) }
  }

  /// Adds a hub without subscribers, whose topic is about to leave its table, if it has one order:
  /// threads that have found it may still send through it, and leave events to one another.
  ///
  /// - Complexity: amortised O(1).
  func addIfOrdered(_ hub: EventHub<Event>) {
    if hub.sequencer != nil { add(hub) }
  }

  /// The number of topics in the list.
  var count: Int { lock.withLock { topics.count } }

  var targets: [HubFlush<Event>.Target] {
    let topics = lock.withLock { self.topics }
    return topics.compactMap { topic in
      topic.registry.object.map { HubFlush<Event>.Target($0, topic.sequencer?.object) }
    }
  }

  /// Removes the topics without subscribers, through which no thread sends, from the first ones,
  /// which are `full`.
  private func prune(_ full: [Topic], _ current: Int) {
    // Outside the lock: this may release the last reference to a registry or a sequencer.
    let rest = full.filter {
      ($0.registry.object?.count ?? 0) > 0 || $0.sequencer?.object != nil
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
