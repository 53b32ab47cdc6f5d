public import Synchronization

extension TopicHub {
  /// Hands `event` to every subscriber of `topic`. See ``EventHub/send(_:)``.
  ///
  /// - Returns: how many subscribers were called or have the event in their buffer.
  /// - Complexity: O(subscribers of `topic`).
  @inlinable @discardableResult
  public func send(_ event: Event, to topic: Topic) -> Int {
    // Acquiring: whoever saw `finish` return sees it here.
    guard !isFinished.load(ordering: .acquiring) else { return 0 }
    let hash = topic.hashValue
    defer { withExtendedLifetime(self) {} }
    // SAFETY: the read section keeps the node.
    return topics.read {
      topics.node(topic, hash)?._withUnsafeGuaranteedRef { $0.send(event) } ?? 0
    }
  }

  /// Hands each of `events` to every subscriber of `topic`, one after the other, as
  /// ``send(_:to:)`` does.
  ///
  /// All of them go to the topic that is there when this begins. If it goes meanwhile, with its last
  /// subscriber or because it is finished, whoever subscribes after that begins anew and gets none
  /// of them. If nobody is subscribed when this begins, `events` is not iterated.
  ///
  /// - Complexity: O(events × subscribers of `topic`). The topic is looked up once.
  @inlinable
  public func send(contentsOf events: some Sequence<Event>, to topic: Topic) {
    guard !isFinished.load(ordering: .acquiring) else { return }  // As in `send`.
    // The hub is retained: the sequence may take its time, and would keep every topic that goes.
    topics.hub(of: topic)?.send(contentsOf: events)
  }

  /// Hands `event` to every subscriber of `topic`, and suspends while the buffer of one whose
  /// policy is `.suspend` is full. See ``EventHub/sendWaiting(_:)``.
  ///
  /// - Returns: whether no subscriber missed the event because the hub or the topic was finished, or
  ///   because the task was cancelled before there was channel. What is sent to a topic that is not
  ///   there, or after the hub has finished, is not counted.
  /// - Complexity: O(subscribers of `topic`), and the wait.
  @discardableResult
  public func sendWaiting(_ event: Event, to topic: Topic) async -> Bool {
    // Acquiring: as in `send`.
    if !isFinished.load(ordering: .acquiring), let hub = topics.hub(of: topic) {
      return await hub.sendWaiting(event)
    }
    await SendWaiterList.yieldAfterMany()
    // Loaded again: `finish` may have taken the topic away meanwhile.
    return !isFinished.load(ordering: .acquiring)
  }
}
