// An event reaches the subscribers of all topics through the hub of its topic, or directly if the topic
// does not exist.

extension TopicHub {
  /// What the hub of `topic` does with each event, at its place in the order of the topic: passes it
  /// to the subscribers of all topics.
  func forwarding(_ topic: Topic) -> EventForwarding<Event> {
    { [gate, allTopics] event, waiters in
      guard gate.hasSubscribersOfAllTopics else { return 0 }
      return allTopics.send(TopicEvent(topic: topic, event: event), forwardedFrom: waiters)
    }
  }

  /// As ``send(_:to:)``, if the gate is not plain.
  @usableFromInline @inline(never)
  func sendToAll(_ event: Event, to topic: Topic) -> Int {
    sendToAll(event, to: topic, through: topics.hub(of: topic))
  }

  /// As ``send(_:to:)``, if the gate is not plain.
  ///
  /// - Parameter hub: the hub of `topic`, or `nil` if the topic does not exist.
  @usableFromInline @inline(never)
  func sendToAll(_ event: Event, to topic: Topic, through hub: EventHub<Event>?) -> Int {
    guard !gate.isFinished && !gate.isBlocked else { return 0 }
    retain(event, of: topic)
    return deliverToAll(event, to: topic, through: hub)
  }

  /// Keeps `event`, before it is delivered, if the hub retains.
  func retain(_ event: Event, of topic: Topic) {
    // SAFETY: only the initialiser for topics that are strings sets the log.
    if let log { _ = log.append(event, to: unsafeBitCast(topic, to: String.self)) }
  }

  /// Delivers `event` to the subscribers of `topic` and of all topics.
  @discardableResult
  func deliverToAll(_ event: Event, to topic: Topic, through hub: EventHub<Event>?) -> Int {
    guard let hub else {
      return allTopics.send(TopicEvent(topic: topic, event: event))
    }
    return hub.sendForwarding(event)
  }
}
