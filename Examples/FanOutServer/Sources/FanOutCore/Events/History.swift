internal import DequeModule
internal import NIOCore

/// The newest events of each topic, within limits of count and memory.
struct History {
  /// How much to keep.
  struct Limits: Sendable, Hashable {
    var eventsPerTopic: Int
    /// Of all topics together. The oldest event of all topics is removed first.
    var bytes: Int
  }

  /// The events for a client that reconnects.
  struct Replay {
    var events: [Event] = []
    /// Events after the client's id may be missing up to this one; `nil` if none is missing.
    var missingThrough: EventID?
  }

  private struct TopicEvents {
    var events: Deque<Event> = []
    /// Events of the topic up to this id are not kept.
    var forgotten: EventID
  }

  /// Approximate memory of an event besides its bytes: the object and its entries.
  private static let overhead = 512
  /// Approximate memory of a topic with kept events: its events here, and its room.
  private static let topicOverhead = 1024

  private let limits: Limits
  private var topics: [Topic: TopicEvents] = [:]
  /// All kept events by age. Also contains some that are not kept any more.
  private var order: Deque<(topic: Topic, id: EventID)> = []
  /// For topics without kept events: events up to this id are not kept.
  private var floor: EventID
  private(set) var count = 0
  private(set) var bytes = 0

  /// - Parameter start: events up to this id are not kept.
  init(_ limits: Limits, after start: EventID) {
    self.limits = limits
    floor = start
  }
}

extension History {
  /// Appends `event`, whose id must be higher than all before.
  ///
  /// - Returns: the topic of each event that was removed.
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
  /// - Complexity: O(log n + m) for n kept events of the topic and m returned events.
  func replay(_ topic: Topic, after id: EventID, last: EventID) -> Replay {
    guard id <= last else { return Replay(missingThrough: last) }
    guard let topicEvents = topics[topic] else {
      return Replay(missingThrough: id < floor ? floor : nil)
    }
    return Replay(
      events: Array(topicEvents.events[firstIndex(in: topicEvents.events, after: id)...]),
      missingThrough: id < topicEvents.forgotten ? topicEvents.forgotten : nil)
  }

  /// The number of kept events of `topic`.
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
