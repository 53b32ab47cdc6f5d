extension TopicHub {
  /// Delivers `event` to every subscriber of `topic`, and to those of all topics and of patterns
  /// that match it. See ``EventHub/send(_:)``.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  /// - Returns: as ``EventHub/send(_:)``; 0 if no subscriber receives it, or after ``finish()``.
  /// - Precondition: the events of the hub do not come from an ``ExternalLog``.
  /// - Complexity: O(subscribers of `topic`, of all topics and of matching patterns). If there are
  ///   patterns, the matching in addition: see <doc:Contracts>.
  @inlinable @discardableResult
  public func send(_ event: Event, to topic: Topic) -> Int {
    guard gate.isPlain else { return sendToAll(event, to: topic) }
    let hash = topic.hashValue
    defer { withExtendedLifetime(self) {} }
    // SAFETY: the read section keeps the node alive.
    return topics.read {
      topics.node(topic, hash)?._withUnsafeGuaranteedRef { $0.send(event) } ?? 0
    }
  }

  /// Sends each of `events` to `topic`, in order, as ``send(_:to:)`` does.
  ///
  /// The topic is looked up once. If it ends during the call, with its last subscriber or because
  /// it is finished, later subscribers receive none of the events, unless the hub has a total order
  /// and subscribers of patterns, which all see the events in the order of the topic. If the topic
  /// has no subscriber when the call begins, nor the hub one of all topics or of a pattern,
  /// `events` is not iterated. A hub that retains sends each event as by ``send(_:to:)``, and
  /// looks the topic up each time. After ``finish()`` `events` is not iterated either; a hub that
  /// finishes during the call ends the iteration.
  ///
  /// - Parameters:
  ///   - events: what subscribers receive.
  ///   - topic: whose subscribers.
  /// - Precondition: the events of the hub do not come from an ``ExternalLog``.
  /// - Complexity: that of ``send(_:to:)`` for each event, without the search for the topic.
  @inlinable
  public func send(contentsOf events: some Sequence<Event>, to topic: Topic) {
    // Retains the hub instead of reading in a section: `events` may block, and a long read section
    // would keep every topic that ends in memory.
    let hub = topics.hub(of: topic)
    guard hub != nil || retains || gate.hasSubscribersOfAllTopics, !gate.isFinished else { return }
    for event in events {
      if gate.isPlain {
        hub?.send(event)
      } else if gate.isFinished {
        return
      } else if retains {
        _ = sendToAll(event, to: topic)
      } else {
        _ = sendToAll(event, to: topic, through: hub)
      }
    }
  }

  /// Delivers `event` to every subscriber of `topic`, and suspends while a buffer with the policy
  /// `.suspend` is full. See ``EventHub/sendWaiting(_:)``.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  /// - Returns: `false` if the hub was finished, or if a subscriber did not receive the event
  ///   because the topic was finished or the task was cancelled while a buffer was full. What a
  ///   hub that retains has kept counts as sent, also if the topic is finished before a subscriber
  ///   receives it. Events sent to a topic without subscribers, or to a finished hub, are not
  ///   counted as refused.
  /// - Precondition: the events of the hub do not come from an ``ExternalLog``.
  /// - Complexity: as for ``send(_:to:)``, and the wait.
  @discardableResult
  public func sendWaiting(_ event: Event, to topic: Topic) async -> Bool {
    let accepts = beginSending(event, to: topic)
    if accepts {
      let isKept = sendersKeepTopics
      if !isKept, let hub = topics.hub(of: topic) {
        return await hub.sendWaiting(event, by: nil, isKept: retains)
      }
      if isKept || gate.hasSubscribersOfAllTopics {
        await Task.yieldAfterMany()
        let waiters = SendWaiterList()
        // The first pattern may have come during the suspension.
        _ = sendWithoutHub(
          event, to: topic, isKept: isKept || sendersKeepTopics, waiters: waiters)
        let outcome = await waiters.wait(isKept: retains)
        // As in `EventHub.sendWaiting`.
        withExtendedLifetime(event) {}
        return (outcome.isTaken || retains) && outcome.isComplete
      }
    }
    await Task.yieldAfterMany()
    // What the hub has kept was sent before its end. Otherwise loaded again: `finish` may have
    // removed the topic since.
    return accepts && retains || !gate.isFinished
  }
}
