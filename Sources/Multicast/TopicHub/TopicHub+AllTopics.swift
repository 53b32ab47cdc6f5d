// An event reaches the subscribers of all topics, and of patterns, through the hub of its topic, or
// directly if the topic does not exist.

extension TopicHub {
  /// As ``send(_:to:)``, if the gate is not plain.
  @inlinable @inline(never)
  func sendToAll(_ event: Event, to topic: Topic) -> Int {
    // The compiler specialises the lookup where this is called.
    guard retains else { return sendToAll(event, to: topic, through: topics.hub(of: topic)) }
    guard beginSending(event, to: topic) else { return 0 }
    let hub = topics.hub(of: topic)
    // As in a hub that does not retain.
    if !gate.hasSubscribersOfAllTopics { return hub?.send(event) ?? 0 }
    return deliverToAll(event, to: topic, through: hub)
  }

  /// As ``sendToAll(_:to:)``, if the hub does not retain.
  ///
  /// - Parameter hub: the hub of `topic`, or `nil` if the topic does not exist.
  @usableFromInline @inline(never)
  func sendToAll(_ event: Event, to topic: Topic, through hub: EventHub<Event>?) -> Int {
    guard !gate.isFinished && !gate.isBlocked else { return 0 }
    return deliverToAll(event, to: topic, through: hub)
  }

  /// Keeps `event`, if the hub retains and accepts events.
  ///
  /// - Returns: whether it accepts the event.
  @usableFromInline @inline(never)
  func beginSending(_ event: Event, to topic: Topic) -> Bool {
    !gate.isFinished && !gate.isBlocked && retainEvent(event, of: topic)
  }

  /// Keeps `event`, if the hub retains.
  ///
  /// Before the sender looks for the hub of the topic: a subscriber with positions begins to listen
  /// there and then finds its place in the log, so either the event is before that place, or the
  /// sender finds the subscriber.
  ///
  /// - Returns: `false` if the hub has finished.
  func retainEvent(_ event: Event, of topic: Topic) -> Bool {
    guard let retention else { return true }
    requireOwnEvents(retention.log)
    // SAFETY: only the initialisers for topics that are strings set the retention.
    return retention.append(event, to: unsafeBitCast(topic, to: String.self)) != nil
  }

  func requireOwnEvents(_ log: TopicLog) {
    require(
      !log.isExternal,
      """
      \(messagePrefix(name)) the events of this hub come from an external log; publish to that, and \
      let it deliver them with its ExternalLogWriter.
      """)
  }

  /// Delivers `event` to the subscribers of `topic` and of all topics.
  @usableFromInline @discardableResult
  func deliverToAll(_ event: Event, to topic: Topic, through hub: EventHub<Event>?) -> Int {
    // Once: with two answers, an event might go neither through `hub` nor through a kept topic.
    let isKept = sendersKeepTopics
    // A hub that is not kept may have ended, and another one may give the topic its order now.
    if let hub, !isKept {
      // Without the channel of the topic, whose type would be looked up.
      if hub.sequencer == nil, !gate.hasSubscribersOfAllTopics {
        return common.delivery(hub, event, 0, nil, nil, nil)
      }
      return hub.sendForwarding(event)
    }
    return sendWithoutHub(event, to: topic, isKept: isKept)
  }

  /// Whether a topic exists as long as a sender delivers to it, so that it gives the subscribers of
  /// different patterns one order. Another thread may deliver for the sender; then that thread
  /// keeps it.
  var sendersKeepTopics: Bool { ordering == .total && crossTopic.hasPatterns }

  /// Sends an event to a topic that does not exist, or that senders keep.
  ///
  /// - Parameters:
  ///   - isKept: whether senders keep the topic. `false` only if it did not exist when the sender
  ///     looked for it.
  ///   - waiters: where a sender that can wait finds the full buffers.
  func sendWithoutHub(
    _ event: Event, to topic: Topic, isKept: Bool, waiters: SendWaiterList? = nil
  ) -> Int {
    guard isKept else {
      defer { waiters?.completeDelivery(isTaken: true) }
      return crossTopic.send(TopicEvent(topic: topic, event: event), waiters)
    }
    return withHub(of: topic) { hub in
      hub.sequencer?.send(event, waiters: waiters, through: hub) ?? 0
    }
  }
}
