/// The subscribers of a hub of topics that have positions.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicReaders: @unchecked Sendable {
  // Sendable: `signals` is accessed inside `lock` alone.

  /// Guards the dictionary. No user code runs inside.
  private let lock = Lock()
  private var signals: [ObjectIdentifier: TopicSignals] = [:]

  func add(_ reader: TopicSignals) {
    lock.withLock { signals[ObjectIdentifier(reader)] = reader }
  }

  func remove(_ reader: TopicSignals) {
    _ = lock.withLock { signals.removeValue(forKey: ObjectIdentifier(reader)) }
  }

  /// Ends the readers that no topic or pattern signals any more, because their subscriptions were
  /// cancelled.
  func cancelInactive() {
    for reader in all where !reader.isSubscribed { reader.cancel() }
  }

  private var all: [TopicSignals] { lock.withLock { Array(signals.values) } }

  /// Makes every reader read.
  func signalAll() {
    for reader in all { reader.signal() }
  }
}
