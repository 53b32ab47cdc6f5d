extension TopicHub {
  /// Delivers `event` to every subscriber of `topic`, or to none. See ``EventHub/trySend(_:)``.
  ///
  /// Subscribers of all topics and of patterns have no vote: they receive what is sent, by their
  /// policies.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  /// - Returns: whether the event was sent; `true` if the topic has no subscriber. After
  ///   ``finish()``: `false`.
  /// - Complexity: O(subscribers of `topic`).
  public func trySend(_ event: Event, to topic: Topic) -> Bool {
    guard !gate.isFinished else { return false }
    guard !gate.isBlocked else { return true }
    if sendersKeepTopics {
      return withHub(of: topic) { $0.trySend(event) { retain(event, of: topic) } }
    }
    if let hub = topics.hub(of: topic) {
      return hub.trySend(event) { retain(event, of: topic) }
    }
    retain(event, of: topic)
    if gate.hasSubscribersOfAllTopics { _ = sendWithoutHub(event, to: topic) }
    return true
  }
}
