internal import Synchronization

/// Provides the iterators of a sequence with consumers: the first gets the subscription that began
/// with the sequence, each later one a new subscription.
///
/// ## Thread safety
/// ``take()`` may be called from any thread.
final class EventSource: Sendable {
  /// Returns `nil` if the hub no longer exists: a sequence does not retain it.
  private let subscribe: @Sendable () -> EventConsumer?
  /// Retained until the first ``take()``.
  private let first: Atomic<Unmanaged<EventConsumer>?>
  /// How the hub has finished, for consumers that come when it no longer exists.
  private let completion: Completion

  init(_ completion: Completion, _ subscribe: @escaping @Sendable () -> EventConsumer?) {
    self.completion = completion
    self.subscribe = subscribe
    first = Atomic(subscribe().map(Unmanaged.passRetained))
  }

  deinit {
    _ = takeFirst()
  }

  func take() -> EventConsumer {
    takeFirst() ?? subscribe() ?? EventConsumer(nil, .finished(), completion)
  }

  private func takeFirst() -> EventConsumer? {
    // Relaxed: a thread that has the source sees the consumer as `init` made it. Only one exchange
    // returns it, so the retain of `init` is consumed once.
    first.exchange(nil, ordering: .relaxed)?.takeRetainedValue()
  }
}
