internal import NIOConcurrencyHelpers

/// Counts the streams of each topic, because several may share a subscription of the hub.
final class StreamCounts: Sendable {
  /// By topic, the number of streams less the number of subscriptions.
  struct Shared {
    fileprivate var counts: [String: Int] = [:]

    mutating func add(_ count: Int, to topic: Topic) {
      let new = counts[topic.name, default: 0] + count
      counts[topic.name] = new == 0 ? nil : new
    }
  }

  private let shared = NIOLockedValueBox(Shared())

  /// Counts subscriptions of the hub to a topic.
  private let subscriptions: @Sendable (String) -> Int

  init(subscriptions: @escaping @Sendable (String) -> Int) {
    self.subscriptions = subscriptions
  }
}

extension StreamCounts {
  /// The number of streams that get the events of a topic.
  func count(of topic: String) -> Int {
    // Inside the lock, so that a stream that changes its subscription counts once.
    shared.withLockedValue { subscriptions(topic) + $0.counts[topic, default: 0] }
  }

  /// Begins and ends subscriptions of the hub, and changes what is counted beside them. Not inside
  /// itself.
  func update(_ body: (inout Shared) -> Void) {
    shared.withLockedValue(body)
  }
}
