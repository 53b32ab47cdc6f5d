extension TopicHub {
  /// What the hub looks like now: its receivers, where they were registered, and what waits for
  /// them.
  ///
  /// It runs the `description` of topics that are no strings.
  ///
  /// - Complexity: O(subscribers of all topics and patterns).
  public var snapshot: HubSnapshot {
    var receivers = crossTopic.allTopics.receivers()
    for target in crossTopic.patterns.all {
      let patterns = target.patterns.map(\.description).sorted().joined(separator: ", ")
      receivers += CrossTopicDelivery<Topic, Event>.hub(of: target.subject).receivers()
        .map { $0.of(patterns) }
    }
    for (topic, channel) in topics.all {
      receivers += channel.hub.receivers().map { $0.of("\(topic)") }
    }
    return HubSnapshot(
      type: "TopicHub<\(Topic.self), \(Event.self)>", name: name, receivers: receivers,
      dropped: drops.total, refused: 0)
  }
}

extension TopicHub: InspectableHub {}

extension ReceiverSnapshot {
  /// The same receiver, of a topic or of patterns.
  fileprivate func of(_ topic: String) -> ReceiverSnapshot {
    var receiver = self
    receiver.topic = topic
    return receiver
  }
}
