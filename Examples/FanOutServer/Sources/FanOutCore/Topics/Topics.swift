public import Multicast
internal import MulticastLogging
internal import NIOConcurrencyHelpers
internal import NIOCore

/// The topics of a server: a hub that retains their events.
///
/// The ids of events are the positions of the hub, and come from the ``EventLog``, which calls one
/// function of ``deliver(_:)`` and its neighbours at a time, in the order of ids.
public final class Topics: Sendable {
  /// Calls its argument, which delivers events to all their streams. What it returns lets the
  /// streams be written.
  package typealias Delivery = @Sendable (() -> Void) -> () -> Void

  /// A delivery to streams that are not written in turns.
  package static let plainDelivery: Delivery = { deliver in
    deliver()
    return {}
  }

  private let hub: TopicHub<String, Event>
  private let log: LogConnection
  let counts: TopicCounts
  let streamCounts: StreamCounts
  let keys: PublicationKeys
  private let settings: Settings
  private let delivery: Delivery
  private let closed = NIOLockedValueBox(false)

  init(_ settings: Settings, delivery: @escaping Delivery = Topics.plainDelivery) {
    self.settings = settings
    self.delivery = delivery
    let log = LogConnection()
    self.log = log
    keys = PublicationKeys(limit: settings.rememberedKeys)
    // What waits for streams is in the hub's retention too. So that has room for any event: it
    // would remove a larger one before a stream has read it.
    let oneEvent = Self.size(of: Frame.maximumBytes(ofData: settings.maxEventBytes))
    hub = TopicHub(
      retention: .last(max(settings.historyEvents, settings.bufferLimit)),
      total: .bytes(max(settings.historyBytes, oneEvent)) { event in
        Self.size(of: event.frame.readableBytes)
      }, name: "fan-out"
    ) { writer in
      log.writer = writer
      return log
    }
    streamCounts = StreamCounts { [hub] in hub.subscriberCount(reaching: $0) }
    counts = TopicCounts(hub, streamCounts)
    settings.hubs.add(hub)
  }

  /// The approximate memory of an event: its bytes, the object, and its part of the topic.
  private static func size(of bytes: Int) -> Int { min(bytes, .max - 1024) + 1024 }
}

/// Asks the log of the server, which is made after the hub.
private final class LogConnection: ExternalLog {
  private struct State {
    /// The log has the topics, which have this: its owner keeps it.
    weak var log: (any EventLog)?
    var writer: ExternalLogWriter<Event>?
  }

  private let state = NIOLockedValueBox(State())

  var log: (any EventLog)? {
    get { state.withLockedValue(\.log) }
    set { state.withLockedValue { $0.log = newValue } }
  }

  var writer: ExternalLogWriter<Event>? {
    get { state.withLockedValue(\.writer) }
    set { state.withLockedValue { $0.writer = newValue } }
  }

  func page(
    of topics: [String], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? {
    await log?.page(of: topics, after: position, through: last)
  }

  func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? {
    await log?.page(matching: patterns, after: position, through: last)
  }

  func contains(_ position: EventPosition) async -> Bool? { await log?.contains(position) }
}

// MARK: - What the log does

extension Topics {
  /// Uses `log` for events that the hub does not retain, and does not keep it alive. Call it before
  /// the first client connects.
  func connect(_ log: any EventLog) { self.log.log = log }

  /// Keeps an event, and sends it to the subscribers.
  ///
  /// - Returns: the number of streams of the topic; `nil`, and nothing was done, if the event is
  ///   not newer than the newest, or the server shuts down.
  @discardableResult
  public func deliver(_ event: Event) -> Int? {
    let (isNew, end) = delivering { send(event) }
    end()
    return isNew ? count(event) : nil
  }

  /// Runs `body`, which sends events. No stream writes any of them before `body` has returned.
  ///
  /// One at a time: while one delivery overlaps the next, streams are not written.
  ///
  /// - Returns: also what lets the streams be written; call it outside of locks.
  func delivering<R>(_ body: () -> R) -> (R, end: () -> Void) {
    var result: R?
    let end = delivery { result = body() }
    return (result!, end)
  }

  /// Keeps an event, and sends it to the subscribers, as a part of a delivery.
  ///
  /// - Returns: `false`, and nothing was done, if the event is not newer than the newest, or the
  ///   server shuts down.
  func send(_ event: Event) -> Bool {
    log.writer?.deliver(event, to: event.topic.name, number: event.id) != nil
  }

  /// Counts an event that was sent.
  ///
  /// - Returns: the number of streams of the topic.
  func count(_ event: Event) -> Int {
    let name = event.topic.name
    let count = streamCounts.count(of: name)
    counts.add(name, reached: count)
    return count
  }

  /// Keeps an event from before the start of the server, which no statistics count.
  public func restore(_ event: Event) {
    log.writer?.deliver(event, to: event.topic.name, number: event.id)
  }

  /// Remembers the key of an event from before the start of the server. Call it in the order of
  /// ids.
  public func restore(_ key: PublicationKey, of topic: Topic, _ id: EventID) {
    keys.restore(PublicationKeys.Name(topic: topic, key: key), id)
  }

  /// Starts after `id`. The server has no valid events up to that id: it forgets those it kept, and
  /// the keys of events after `id`, which do not exist any more.
  public func begin(after id: EventID) {
    keys.forget(after: id)
    log.writer?.begin(epoch: nextEpoch, after: id)
  }

  /// The epoch of the positions after the next ``begin(after:)``.
  public var nextEpoch: UInt64 { hub.newestPosition.epoch + 1 }

  /// Continues after `id`: the log does not have the events up to it any more.
  public func skip(through id: EventID) { log.writer?.skip(through: id) }

  /// Marks the claims of clients so far to have an event that the log has not delivered yet.
  public func markClaims() -> PositionMark? { log.writer?.markPositions() }

  /// Continues without a gap, and rejects unconfirmed claims from before the mark to have an event
  /// after `newest`: at a time after the mark the log had no such event.
  public func rejectClaims(after newest: EventID, madeBefore mark: PositionMark?) {
    guard let mark else { return }
    log.writer?.refusePositions(after: newest, namedBefore: mark)
  }

  /// The number of streams that get the events of `topic`.
  public func subscriberCount(of topic: Topic) -> Int { streamCounts.count(of: topic.name) }
}

// MARK: - Subscribing

/// The events of a new subscriber.
struct TopicSubscription {
  /// The newest event of all topics at the time of the subscription; `nil` if the client already
  /// has an id, or if the newest event is unknown.
  let newest: EventID?
  let reader: TopicReader<Event>
  /// Whether each event names its topic.
  let namesTopics: Bool
}

extension Topics {
  /// Subscribes to the topics of a stream.
  ///
  /// Without a limit of its own, a stream of several topics gets all their events after `id` that
  /// the hub has. `policy` does not apply to patterns.
  ///
  /// - Parameters:
  ///   - id: the last event that the client has; `nil` if it has none.
  ///   - whenReadable: called when there are events again, after there were none.
  func subscribe(
    to topics: TopicSelection, after id: EventID?, _ policy: StreamPolicy,
    whenReadable: @escaping @Sendable () -> Void
  ) throws(Unavailable) -> TopicSubscription {
    guard !isClosed else { throw Unavailable("the server is shutting down") }
    var start = SubscriptionStart.live
    if let id {
      // Ids have no epoch: one that is not of this epoch is not that of an event, or of another
      // one.
      let position = EventPosition(epoch: hub.newestPosition.epoch, number: id)
      start =
        topics.namesTopics
        ? .after(position) : .after(position, atMost: settings.historyEvents)
    }
    let reader =
      switch topics {
      case .topic(let topic): named([topic], start, policy, whenReadable)
      case .names(let topics): named(topics, start, policy, whenReadable)
      case .patterns(let patterns):
        hub.reader(matching: patterns, from: start, whenReadable: whenReadable)
      }
    // Not the newest event from before: others may have come until the reader began.
    return TopicSubscription(
      newest: id == nil ? reader.position?.number : nil, reader: reader,
      namesTopics: topics.namesTopics)
  }

  /// A reader for a stream of one topic that has everything up to `position`.
  func reader(
    of topic: Topic, continuingAfter position: EventPosition, _ policy: StreamPolicy,
    whenReadable: @escaping @Sendable () -> Void
  ) -> TopicReader<Event> {
    hub.reader(
      for: [topic.name], continuingAfter: position,
      buffering: policy.buffering(settings.bufferLimit), whenReadable: whenReadable)
  }

  private func named(
    _ topics: [Topic], _ start: SubscriptionStart, _ policy: StreamPolicy,
    _ whenReadable: @escaping @Sendable () -> Void
  ) -> TopicReader<Event> {
    hub.reader(
      for: topics.map(\.name), from: start, buffering: policy.buffering(settings.bufferLimit),
      whenReadable: whenReadable)
  }
}

// MARK: - Statistics and closing

extension Topics {
  /// Logs a warning if there are more subscriptions than connections can have, one for each topic:
  /// if streams are not removed. Twice as many, because a connection gives its place back before
  /// its stream has ended.
  ///
  /// Handlers are not measured: those of streams only wake their event loop. A slow client has
  /// events that wait.
  func warnOfLeaks() {
    let limit = 2 * settings.maxConnections * settings.maxStreamTopics
    hub.warnOfLeaks(above: max(1, limit), to: settings.logger)
  }

  /// Whether it refuses new events and streams.
  var isClosed: Bool { closed.withLockedValue { $0 } }

  /// Ends every stream after its pending events. From now on there are no events and no streams.
  func close() {
    closed.withLockedValue { $0 = true }
    hub.finish()
  }
}
