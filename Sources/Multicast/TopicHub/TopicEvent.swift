/// An event with its topic, for the subscribers of all topics, or of patterns, of a ``TopicHub``.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct TopicEvent<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  /// The topic that the event was sent to.
  public let topic: Topic
  /// The event.
  public let event: Event

  /// Creates an element, for tests of code that receives one.
  ///
  /// - Parameters:
  ///   - topic: the topic.
  ///   - event: its event.
  @inlinable
  public init(topic: Topic, event: Event) {
    self.topic = topic
    self.event = event
  }
}

extension TopicEvent: Equatable where Event: Equatable {}
extension TopicEvent: Hashable where Event: Hashable {}
