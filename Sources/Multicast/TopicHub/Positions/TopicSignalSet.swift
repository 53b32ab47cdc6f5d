/// The signals of all subscribers of a hub of topics that have positions.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicSignalSet: @unchecked Sendable {
  // Sendable: `signals` is accessed inside `lock` alone.

  /// Guards the dictionary. No user code runs inside.
  private let lock = Lock()
  private var signals: [ObjectIdentifier: TopicSignals] = [:]

  func add(_ signal: TopicSignals) {
    lock.withLock { signals[ObjectIdentifier(signal)] = signal }
  }

  func remove(_ signal: TopicSignals) {
    _ = lock.withLock { signals.removeValue(forKey: ObjectIdentifier(signal)) }
  }

  /// Ends the subscribers that no topic or pattern signals any more.
  ///
  /// - Parameter isCancelled: whether all subscriptions of the hub were cancelled.
  func endInactive(isCancelled: Bool = false) {
    for signals in all { signals.endIfInactive(isCancelled: isCancelled) }
  }

  /// Makes every subscriber read.
  func signalAll() {
    for signals in all { signals.signal() }
  }

  /// Ends the subscribers whose owners are gone.
  func prune() {
    for hub in flushedHubs { hub.registry.prune() }
  }

  /// The hubs of the handlers with positions.
  var flushedHubs: [EventHub<Void>] { all.compactMap(\.target.flushedHub) }

  var all: [TopicSignals] { lock.withLock { Array(signals.values) } }
}
