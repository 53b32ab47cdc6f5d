/// What a hub of topics retains, and how: the log with the rules for its type of events.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicRetention<Event: Sendable>: @unchecked Sendable {
  // Sendable: `external` is set before the initialiser returns the hub, and only subscribers of the
  // hub read it. The writer that the external log gets does not.

  let log: TopicLog
  private let rules: RetentionRules<Event>
  /// Calls a handler that receives positions.
  let callPositioned: PositionedTopicEvent<Event>.Call
  /// The log from which the events and their numbers come. Set once, before it has begun.
  var external: (any ExternalLog<Event>)?

  /// - Parameters:
  ///   - perTopic: what is kept of each topic.
  ///   - total: what is kept of all topics together.
  ///   - epoch: that of the positions; `nil`: a random one.
  ///   - callPositioned: see ``PositionedTopicEvent/call``.
  ///   - isExternal: whether the numbers come from an external log, which has not begun.
  init(
    _ perTopic: Retention<Event>, total: Retention<Event>, epoch: UInt64?,
    callPositioned: @escaping PositionedTopicEvent<Event>.Call, isExternal: Bool = false
  ) {
    self.callPositioned = callPositioned
    var all = Retention<Event>.all
    all.count = perTopic.count
    all.size = perTopic.size ?? total.size
    all.age = [perTopic.age, total.age].compactMap { $0 }.min()
    rules = RetentionRules(all, epoch: epoch)
    var allTopics = RetentionLimits(of: total)
    allTopics.age = all.age
    log = TopicLog(
      RetentionLimits(of: perTopic), total: allTopics, isMeasured: rules.isMeasured, rules.clock,
      epoch: isExternal ? nil : rules.epoch)
  }
}

extension TopicRetention {
  /// Gives `event` the next number, and keeps it.
  func append(_ event: Event, to topic: String) -> EventPosition? {
    log.append(rules.retained(event), to: topic)
  }

  /// Keeps an event that has its number.
  ///
  /// - Returns: whether it is newer than all before; otherwise nothing is done.
  func deliver(_ event: Event, number: UInt64, to topic: String) -> Bool {
    log.deliver(rules.retained(event), number: number, to: topic)
  }
}

// MARK: - The external log

extension TopicRetention {
  /// Requests events of some topics after a position.
  ///
  /// - Returns: `nil` if the external log does not have them.
  func page(
    of topics: ExternalTopics, after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Event>? {
    switch topics {
    case .names(let names):
      await external?.page(of: names, after: position, through: last)
    case .patterns(let patterns):
      await external?.page(matching: patterns, after: position, through: last)
    }
  }

  /// Whether the external log has an event; `nil` if that is unknown.
  func contains(_ position: EventPosition) async -> Bool? {
    await external?.contains(position)
  }
}
