internal import Multicast
internal import NIOCore

/// The streams of an event loop that have the same topic and are up to date: one reader reads each
/// event for all of them.
///
/// ```
///   reader of its own ──has returned everything──▶ member of a group
///          ▲                                              │
///          └──────the client does not take more───────────┘
/// ```
///
/// So what a stream may miss, and when it is disconnected, depends on its own reader alone; a member
/// misses nothing.
///
/// Not thread-safe: it belongs to its event loop.
final class StreamGroup {
  /// What was read for all members.
  struct Element {
    /// What they write.
    let frame: ByteBuffer
    /// Where the missing events begin; `nil`: this is an event.
    let start: EventPosition?
    /// Who has this element has everything up to this position.
    let position: EventPosition
  }

  /// The most elements, and bytes, of one read.
  private static let elementsPerRead = 64
  private static let bytesPerRead = 1 << 16

  private let loop: ConnectionLoop
  private let topics: Topics
  private let topic: Topic
  /// `nil` without members.
  private var reader: TopicReader<Event>?
  private var streams = IndexedList<EventStream>(\.groupIndex)
  /// Up to there everything was read.
  private var position: EventPosition
  /// What was read last.
  private var elements: [Element] = []
  /// How many of the first members do not have it: it is written from the last one on, so that one
  /// that leaves is replaced by one that has it.
  private var rest = 0
  private(set) var lastTurn = 0

  /// Creates a group without members.
  ///
  /// - Parameter position: what the first member has.
  init(_ topic: Topic, of topics: Topics, after position: EventPosition, _ loop: ConnectionLoop) {
    self.topic = topic
    self.topics = topics
    self.position = position
    self.loop = loop
  }
}

extension StreamGroup {
  /// Whether a stream that has everything up to `position` may join: whether the group will read
  /// everything after it.
  func accepts(_ position: EventPosition) -> Bool {
    self.position.epoch == position.epoch && self.position <= position
  }

  /// Adds a stream, which gives up its own reader.
  func add(_ stream: EventStream) {
    topics.streamCounts.update { counts in
      stream.discardReader()
      streams.add(stream)
      if streams.count == 1 { beginReading() } else { counts.add(1, to: topic) }
    }
  }

  /// Removes a stream; the group ends with the last one.
  ///
  /// - Parameter policy: of the reader that the stream gets instead; `nil`: the stream ends.
  func remove(_ stream: EventStream, _ policy: StreamPolicy? = nil) {
    topics.streamCounts.update { counts in
      guard streams.remove(stream) else { return }
      if let policy { stream.read(topics, topic, policy) }
      if streams.count == 0 { reader = nil } else { counts.add(-1, to: topic) }
    }
    if streams.count == 0 { loop.remove(self, of: topic) }
  }

  private func beginReading() {
    let signal = TurnSignal(self, loop.ready)
    reader = topics.reader(of: topic, continuingAfter: position) { signal.send() }
    // It tells of events after the first read.
    signal.send()
  }
}

extension StreamGroup: TurnMember {
  func writePending(_ budget: inout TurnBudget) -> Bool {
    lastTurn = loop.turnNumber
    while let reader, !budget.isSpent {
      if rest == 0 {
        guard read(reader) else { return true }
        rest = streams.count
      }
      write(&budget)
    }
    return reader == nil
  }

  /// Reads more, after every member has what was read.
  ///
  /// - Returns: whether there was something.
  private func read(_ reader: TopicReader<Event>) -> Bool {
    elements.removeAll(keepingCapacity: true)
    var bytes = 0
    while elements.count < Self.elementsPerRead, bytes < Self.bytesPerRead,
      let next = reader.nextIfAvailable()
    {
      let element = Element(next)
      elements.append(element)
      position = element.position
      bytes += element.frame.readableBytes
    }
    if elements.isEmpty, let end = reader.end { finish(end) }
    return !elements.isEmpty
  }

  /// Writes what was read to further members.
  private func write(_ budget: inout TurnBudget) {
    var events = 0
    while rest > 0, !budget.isSpent {
      // Members may have left since the last turn.
      rest = min(rest, streams.count) - 1
      guard rest >= 0 else {
        rest = 0
        break
      }
      let written = streams[rest].write(elements)
      events += written.events
      budget.bytes -= written.bytes
      budget.streams -= 1
    }
    loop.count(events: events)
  }

  private func finish(_ end: SubscriptionEnd) {
    while streams.count > 0 {
      let stream = streams[streams.count - 1]
      remove(stream)
      stream.finish(end)
    }
  }
}

extension StreamGroup.Element {
  fileprivate init(_ element: PositionedTopicEvent<Event>) {
    switch element {
    case .event(let element, at: let position):
      self.init(frame: element.event.frame, start: nil, position: position)
    case .missed(let range, of: _):
      self.init(
        frame: Frame.missed(range, of: nil), start: range.after, position: range.through)
    }
  }
}
