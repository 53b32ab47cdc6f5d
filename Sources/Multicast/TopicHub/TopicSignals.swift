internal import Synchronization

/// Makes one subscriber of topics read the log.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicSignals: @unchecked Sendable {
  // Sendable: `subscriptions` is set before another thread has the object; everything else is thread-safe.

  /// Has no events, only signals. Its consumer reads.
  let mailbox = StreamMailbox(limit: .max, whenFull: .dropNewest, coalesces: false, drops: nil)
  /// What sends the signals.
  private var subscriptions: [EventSubscription] = []
  // Relaxed: the thread that counts the last topic has no need of what the others did.
  private let ended = Atomic<Int>(0)

  init() {
    signal()
  }

  func signal() { mailbox.signal() }

  /// Counts a topic that has ended. After the last of `count`, the consumer reads what is left and
  /// ends.
  func end(of count: Int) {
    if ended.wrappingAdd(1, ordering: .relaxed).newValue == count { mailbox.end(.finished) }
  }

  /// Sets what sends the signals. Called once, before the object is shared.
  func begin(_ subscriptions: [EventSubscription]) { self.subscriptions = subscriptions }

  /// Whether there is a subscription that has not ended, or the consumer is to end after it has
  /// read.
  var isSubscribed: Bool { mailbox.end != nil || subscriptions.contains(where: \.isActive) }

  /// Ends the subscriptions, and the consumer.
  func cancel() {
    for subscription in subscriptions { subscription.cancel() }
    mailbox.end(.cancelled)
  }
}
