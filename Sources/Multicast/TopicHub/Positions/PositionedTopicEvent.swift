/// What a subscriber that asks for positions receives of the topics of a ``TopicHub``: an event, or
/// the range of events that it missed.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum PositionedTopicEvent<Event: Sendable>: Sendable {
  /// An event with its topic, and its position.
  case event(TopicEvent<String, Event>, at: EventPosition)
  /// Events of a topic that the hub does not retain any more. `nil`: topics of which nothing is
  /// retained any more may have had events in this range.
  case missed(MissedEvents, of: String?)
}

extension PositionedTopicEvent: Equatable where Event: Equatable {}
extension PositionedTopicEvent: Hashable where Event: Hashable {}

extension PositionedTopicEvent {
  /// The event with its topic; `nil` for a range of missed ones.
  public var event: TopicEvent<String, Event>? {
    if case .event(let event, _) = self { event } else { nil }
  }
}

extension PositionedTopicEvent {
  @usableFromInline
  typealias Call = @Sendable (TopicItem, _ epoch: UInt64, (PositionedTopicEvent) -> Void) -> Void

  /// Calls a handler with an event of the log. Made where the hub is made, so that the compiler
  /// specialises it; see ``EventHub/delivery``.
  @inlinable
  static var call: Call {
    { item, epoch, handler in handler(PositionedTopicEvent(item, epoch: epoch)) }
  }

  @inlinable @inline(__always)
  init(_ item: TopicItem, epoch: UInt64) {
    let event = TopicEvent(topic: item.topic, event: item.envelope.event(Event.self))
    self = .event(event, at: EventPosition(epoch: epoch, number: item.number))
  }

  init(_ missing: MissingEvents) {
    self = .missed(
      MissedEvents(after: missing.after, through: missing.through, count: missing.count),
      of: missing.topic)
  }
}
