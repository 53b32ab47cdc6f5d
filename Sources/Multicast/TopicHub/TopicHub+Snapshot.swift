extension TopicHub {
  /// What the hub looks like now: its receivers, where they were registered, and what waits for
  /// them.
  ///
  /// It runs the `description` of topics that are no strings. A subscriber with positions appears
  /// once for each topic that it names. Those that still receive what waits from a topic that has
  /// finished do not appear.
  ///
  /// - Complexity: O(subscribers of all topics and patterns); subscribers with positions as in
  ///   ``statistics``.
  public var snapshot: HubSnapshot {
    let readers = readers
    var receivers = crossTopic.allTopics.receivers()
    for target in crossTopic.patterns.all {
      let patterns = target.patterns.map(\.description).sorted().joined(separator: ", ")
      receivers += CrossTopicDelivery<Topic, Event>.hub(of: target.subject)
        .receivers(readers: readers)
        .map { $0.of(patterns) }
    }
    for (topic, hub) in topics.all {
      receivers += hub.receivers(readers: readers).map { $0.of("\(topic)") }
    }
    let droppedOfAllTopics = allTopics.drops.current?.total ?? 0
    let droppedByReaders = retention?.log.totalDropped ?? 0
    return HubSnapshot(
      type: "TopicHub<\(Topic.self), \(Event.self)>", name: name, receivers: receivers,
      dropped: drops.total + droppedOfAllTopics + droppedByReaders, refused: 0)
  }

  /// The subscribers with positions, by the address of each entry that tells them of events.
  var readers: [UnsafeMutableRawPointer: EventReader] {
    guard let retention else { return [:] }
    // First: while they exist, no others have their addresses.
    let all = signals.all
    var statistics: [ReadTopic: DeliveryStatistics] = [:]
    retention.log.forEachReader { statistics[$0] = $1 }
    var readers: [UnsafeMutableRawPointer: EventReader] = [:]
    for signals in all {
      let kind = signals.target is StreamMailbox ? "sequence" : "reader"
      // The handler, if that is what reads.
      let handler = signals.target.flushedHub?.receivers().first
      for (index, subscription) in signals.senders.enumerated() {
        let topic = ReadTopic(reader: ObjectIdentifier(signals), index: index)
        readers[subscription.registration.address] = EventReader(
          handle: subscription.registration, kind: handler?.kind ?? kind,
          place: handler?.place ?? "consumer",
          isKept: handler?.isKept ?? true, isBlocked: handler?.isBlocked ?? false,
          statistics: statistics[topic])
      }
    }
    return readers
  }
}

extension TopicHub: InspectableHub {}

extension TopicHub {
  /// Calls `handler` once for each line of the program of which more than `limit` registrations
  /// exist at once, for all topics and patterns together: perhaps a leak.
  ///
  /// Only registrations that are made after this call count, and not those of `first`, whose line
  /// is not known. A subscriber with positions counts once for each topic that it names.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - handler: called by the thread that registers, with no lock held. It may register and
  ///     cancel.
  /// - Precondition: `limit` is at least 1, and this was not called before.
  /// - Complexity: O(1). Afterwards each registration costs an allocation more, and a warning
  ///   O(subscribers of all topics and patterns).
  public func warnOfLeaks(
    above limit: Int = 100, _ handler: @escaping @Sendable (LeakWarning) -> Void
  ) {
    let watch = LeakWatch(
      above: limit, countAll: { [weak self] in self?.registrations(at: $0) ?? 0 }, hub: name,
      handler)
    watch.install(in: inspection.leakWatch, hub: name)
  }

  /// Measures how long the handlers of subscriptions that are made from now on take, to topics, to
  /// patterns and to all topics; see ``EventHub/measureHandlers(sampling:slowerThan:_:)``.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured.
  ///   - limit: the longest call that is not slow.
  ///   - onSlow: called after a measured call that was slow.
  /// - Precondition: `interval` is at least 1, and this was not called before.
  /// - Complexity: O(1).
  public func measureHandlers(
    sampling interval: Int = 64, slowerThan limit: Duration = .seconds(1),
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)? = nil
  ) {
    TimingPlan(sampling: interval, limit, onSlow, hub: name).install(in: inspection.timing)
  }

  /// The number of registrations of a line that have not ended.
  private func registrations(at site: UInt) -> Int {
    let hubs = [crossTopic.allTopics] + crossTopic.patternHubs
    let count = hubs.reduce(0) { $0 + $1.registry.count(at: site) }
    return topics.all.reduce(count) { $0 + $1.hub.registry.count(at: site) }
  }
}

extension ReceiverSnapshot {
  /// The same receiver, of a topic or of patterns.
  fileprivate func of(_ topic: String) -> ReceiverSnapshot {
    var receiver = self
    receiver.topic = topic
    return receiver
  }
}
