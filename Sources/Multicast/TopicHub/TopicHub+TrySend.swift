extension TopicHub {
  /// Delivers `event` to every subscriber of `topic`, or to none. See ``EventHub/trySend(_:)``.
  ///
  /// Subscribers of all topics and of patterns, and those with positions, have no vote: they
  /// receive what is sent, by their policies. In a hub that retains, so does a subscription that
  /// begins during the call.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  /// - Returns: whether the event was sent; `true` if the topic has no subscriber, and while the
  ///   hub is blocked. After ``finish()``: `false`.
  /// - Precondition: the events of the hub do not come from an ``ExternalLog``.
  /// - Complexity: as for ``send(_:to:)``, with allocations in proportion to the subscribers of
  ///   `topic`.
  public func trySend(_ event: Event, to topic: Topic) -> Bool {
    guard !gate.isFinished else { return false }
    guard !gate.isBlocked else { return true }
    if sendersKeepTopics {
      return withHub(of: topic) { trySend(event, to: topic, through: $0) }
    }
    if let hub = topics.hub(of: topic) { return trySend(event, to: topic, through: hub) }
    guard retention != nil else {
      let isTaken =
        gate.hasSubscribersOfAllTopics
        && sendWithoutHub(event, to: topic, isKept: sendersKeepTopics) > 0
      // Loaded again: `finish` may have removed the topic since.
      return isTaken || !gate.isFinished
    }
    guard retainEvent(event, of: topic) else { return false }
    deliverToAll(event, to: topic, through: topics.hub(of: topic))
    return true
  }

  private func trySend(_ event: Event, to topic: Topic, through hub: EventHub<Event>) -> Bool {
    guard retention != nil else { return hub.trySend(event) }
    var isRetained = false
    // Includes those that subscribe during the call: one with positions may have found its place
    // before the event, and must be told of it.
    let isSent = hub.trySend(event, includesNew: true) {
      isRetained = retainEvent(event, of: topic)
      return isRetained
    }
    guard isRetained else { return false }
    // As above, if the topic has ended and begun again.
    if let current = topics.hub(of: topic), current !== hub { current.sendUnforwarded(event) }
    // A topic that finishes in between refuses the event, but the hub has it: it is sent, as an
    // event of a topic without subscribers is.
    return isSent || isRetained
  }
}
