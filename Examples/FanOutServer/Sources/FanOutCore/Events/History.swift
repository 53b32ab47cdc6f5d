internal import DequeModule
internal import NIOCore

/// The newest events of each topic, within limits.
struct History {
  /// How much is kept.
  struct Limits: Sendable, Hashable {
    var eventsPerTopic: Int
    /// Of all topics together. The oldest event goes first, of whatever topic it is.
    var bytes: Int
  }

  /// What a client that was away gets.
  struct Replay {
    var events: [Event] = []
    /// Some events after the given id, up to this one, may be missing.
    var missingThrough: EventID?
  }

  private struct TopicEvents {
    var events: Deque<Event> = []
    /// No event of the topic up to this one is known.
    var forgotten: EventID
  }

  /// What an event takes beside its bytes, roughly: the object and its places.
  private static let overhead = 512
  /// What a topic takes of which an event is kept, roughly: its topicEvents here, and its room.
  private static let topicOverhead = 1024

  private let limits: Limits
  private var topics: [Topic: TopicEvents] = [:]
  /// Where events are, by age. Some have left their topicEvents already.
  private var order: Deque<(topic: Topic, id: EventID)> = []
  /// No event of a topic without a topicEvents, up to this one, is known.
  private var floor: EventID
  private(set) var count = 0
  private(set) var bytes = 0

  /// - Parameter start: events up to this one are not known.
  init(_ limits: Limits, after start: EventID) {
    self.limits = limits
    floor = start
  }
}

extension History {
  /// Appends `event`, whose id is higher than all before.
  ///
  /// - Returns: the topic of each event that is kept no more.
  /// - Complexity: amortised O(1).
  mutating func append(_ event: Event) -> [Topic] {
    var forgotten: [Topic] = []
    if topics[event.topic] == nil {
      topics[event.topic] = TopicEvents(forgotten: floor)
      bytes += Self.topicOverhead
    }
    topics[event.topic]?.events.append(event)
    order.append((event.topic, event.id))
    count += 1
    bytes += Self.cost(event)
    if let kept = topics[event.topic]?.events.count, kept > limits.eventsPerTopic {
      forgetOldest(of: event.topic, &forgotten)
    }
    while bytes > limits.bytes, let oldest = order.popFirst() {
      if isKept(oldest.topic, oldest.id) { forgetOldest(of: oldest.topic, &forgotten) }
    }
    if order.count > 2 * count + 64 { order = Deque(order.filter(isKept)) }
    return forgotten
  }

  /// The events of `topic` after `id`.
  ///
  /// - Complexity: O(log n) for n kept events of the topic, and O(events).
  func replay(_ topic: Topic, after id: EventID, last: EventID) -> Replay {
    guard id <= last else { return Replay(missingThrough: last) }
    guard let topicEvents = topics[topic] else {
      return Replay(missingThrough: id < floor ? floor : nil)
    }
    return Replay(
      events: Array(topicEvents.events[firstIndex(in: topicEvents.events, after: id)...]),
      missingThrough: id < topicEvents.forgotten ? topicEvents.forgotten : nil)
  }

  /// How many events of `topic` are kept.
  func count(of topic: Topic) -> Int { topics[topic]?.events.count ?? 0 }

  private static func cost(_ event: Event) -> Int { event.frame.readableBytes + overhead }

  private func isKept(_ topic: Topic, _ id: EventID) -> Bool {
    (topics[topic]?.events.first?.id ?? .max) <= id
  }

  private mutating func forgetOldest(of topic: Topic, _ forgotten: inout [Topic]) {
    guard let oldest = topics[topic]?.events.popFirst() else { return }
    count -= 1
    bytes -= Self.cost(oldest)
    topics[topic]?.forgotten = oldest.id
    forgotten.append(topic)
    if topics[topic]?.events.isEmpty == true {
      topics[topic] = nil
      bytes -= Self.topicOverhead
      floor = max(floor, oldest.id)
    }
  }

  private func firstIndex(in events: Deque<Event>, after id: EventID) -> Int {
    var low = 0
    var high = events.count
    while low < high {
      let middle = (low + high) / 2
      if events[middle].id > id { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
