internal import Synchronization

extension TopicHub {
  /// Delivers `event` to every subscriber of `topic`, or to none. See ``EventHub/trySend(_:)``.
  ///
  /// - Returns: whether the event was sent; `true` if the topic has no subscriber. After
  ///   ``finish()``: `false`.
  /// - Complexity: O(subscribers of `topic`).
  public func trySend(_ event: Event, to topic: Topic) -> Bool {
    // Acquiring: as in `send`.
    guard !isFinished.load(ordering: .acquiring) else { return false }
    return topics.hub(of: topic)?.trySend(event) ?? true
  }
}
