internal import Synchronization

/// Tells one subscriber of several topics to read the log.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicSignals: Sendable {
  /// Has one subscriber: the consumer that reads.
  let hub = EventHub<Void>()
  // Relaxed: the thread that counts the last topic has no need of what the others did.
  private let ended = Atomic<Int>(0)

  /// Counts a topic that has ended. After the last of `count`, the consumer reads what is left and ends.
  func end(of count: Int) {
    if ended.wrappingAdd(1, ordering: .relaxed).newValue == count { hub.finish() }
  }
}
