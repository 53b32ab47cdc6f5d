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
/// The reader of the group has the limit that each of its members would have: if the loop itself is
/// too slow, they all miss the same events.
///
/// Not thread-safe: it belongs to its event loop.
final class StreamGroup {
  /// What was read for all members.
  struct Element {
    /// What they write.
    let frame: ByteBuffer
    /// Where the missing events begin; `nil`: this is an event.
    let start: EventPosition?
    /// A stream that has this element has everything up to this position.
    let position: EventPosition
    /// How many events are missing; `nil`: this is an event, or their number is unknown.
    var missedCount: Int?
  }

  /// What was read at once.
  struct Batch {
    var elements: [Element] = []
    /// The frames of all elements, one after the other; `nil` if some of them are missing ranges,
    /// of which each member writes what it misses.
    private var frames: ByteBuffer?

    /// A stream that has the batch has everything up to this position; `nil`: it is empty.
    var end: EventPosition? { elements.last?.position }

    /// - Parameter position: what a stream has.
    /// - Returns: the frames of all elements; `nil`: the stream has some of them, or writes them
    ///   one by one.
    func frames(after position: EventPosition) -> ByteBuffer? {
      guard let first = elements.first, first.position > position else { return nil }
      return frames
    }

    /// Joins the frames, so that a stream writes them at once. Call it after the last element.
    mutating func joinFrames() {
      guard elements.allSatisfy({ $0.start == nil }) else { return frames = nil }
      guard elements.count > 1 else { return frames = elements.first?.frame }
      let bytes = elements.reduce(0) { $0 + $1.frame.readableBytes }
      var joined = ByteBufferAllocator().buffer(capacity: bytes)
      for element in elements { joined.writeImmutableBuffer(element.frame) }
      frames = joined
    }

    mutating func removeAll() {
      elements.removeAll(keepingCapacity: true)
      frames = nil
    }
  }

  /// The most elements, and bytes, of one read.
  private static let elementsPerRead = 256
  private static let bytesPerRead = 1 << 16

  private let loop: ConnectionLoop
  private let topics: Topics
  private let topic: Topic
  /// `nil` without members.
  private var reader: TopicReader<Event>?
  private var streams = IndexedList<EventStream>(\.groupIndex)
  /// Up to there everything was read.
  private var position: EventPosition
  /// What was read last; empty when every member has it.
  private var batch = Batch()
  /// How many of the first members do not have it: it is written from the last one on, so that one
  /// that leaves is replaced by one that has it.
  private var rest = 0
  /// Whether the last read has found everything that there was, so that the reader tells of more.
  private var isUpToDate = true
  private lazy var signal = TurnSignal(self, loop.ready)
  /// The turn of the last write.
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
  /// everything after it, and has nothing to write before.
  func accepts(_ position: EventPosition) -> Bool {
    isUpToDate && batch.elements.isEmpty && self.position.epoch == position.epoch
      && self.position <= position
  }

  /// Adds a stream, which gives up its own reader.
  func add(_ stream: EventStream) {
    topics.streamCounts.update { counts in
      streams.add(stream)
      // First, so that the topic has a reader all the time.
      if streams.count == 1 { beginReading() } else { counts.add(1, to: topic) }
      stream.discardReader()
    }
  }

  /// Removes a stream; the group ends with the last one.
  ///
  /// - Parameter continues: whether the stream gets a reader of its own instead.
  func remove(_ stream: EventStream, continues: Bool) {
    topics.streamCounts.update { counts in
      guard streams.remove(stream) else { return }
      if continues { stream.beginReading(topic) }
      if streams.count == 0 {
        // It may be in use.
        reader?.cancel()
        reader = nil
      } else {
        counts.add(-1, to: topic)
      }
    }
    if streams.count == 0 { loop.remove(self, of: topic) }
  }

  private func beginReading() {
    let signal = signal
    reader = topics.reader(of: topic, continuingAfter: position, .dropOldest) { signal.send() }
    // The reader tells of events after the first read.
    signal.send()
  }
}

extension StreamGroup: TurnMember {
  func writePending(_ budget: inout TurnBudget) -> Bool {
    guard let reader else { return true }
    if batch.elements.isEmpty { read(reader) }
    if batch.elements.isEmpty {
      guard let end = reader.end else { return true }
      finish(end, &budget)
      return streams.count == 0
    }
    write(&budget)
    guard rest == 0 else { return false }
    batch.removeAll()
    // In another turn: meanwhile other members of this one write.
    if !isUpToDate || reader.end != nil { signal.send() }
    return true
  }

  /// Reads more, after every member has what was read.
  private func read(_ reader: TopicReader<Event>) {
    var bytes = 0
    isUpToDate = false
    while batch.elements.count < Self.elementsPerRead, bytes < Self.bytesPerRead {
      guard let next = reader.nextIfAvailable() else {
        isUpToDate = reader.position != nil
        break
      }
      let element = Element(next)
      batch.elements.append(element)
      position = element.position
      bytes += element.frame.readableBytes
      topics.counts.addDropped(
        (element.missedCount ?? 0) * (streams.count - 1), of: topic.name)
    }
    batch.joinFrames()
    rest = streams.count
  }

  /// Writes what was read to further members.
  private func write(_ budget: inout TurnBudget) {
    lastTurn = loop.turnNumber
    var events = 0
    var writes = 0
    while rest > 0, !budget.isSpent {
      // Members may have left since the last turn.
      rest = min(rest, streams.count)
      guard rest > 0 else { break }
      rest -= 1
      let written = streams[rest].write(batch)
      events += written.events
      if written.events > 0 { writes += 1 }
      budget.bytes -= written.bytes
      budget.streams -= 1
    }
    loop.count(events: events, writes: writes)
  }

  /// Ends further members.
  private func finish(_ end: SubscriptionEnd, _ budget: inout TurnBudget) {
    while streams.count > 0, !budget.isSpent {
      let stream = streams[streams.count - 1]
      stream.finish(end)
      budget.streams -= 1
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
        frame: Frame.missed(range, of: nil), start: range.after, position: range.through,
        missedCount: range.count)
    }
  }
}
