internal import Multicast
internal import NIOConcurrencyHelpers
internal import NIOCore

/// The topics of a server: a hub that retains their events.
///
/// The ids of events are the positions of the hub, and come from the ``EventLog``, which calls one
/// function of ``deliver(_:)`` and its neighbours at a time, in the order of ids.
public final class Topics: Sendable {
  private let hub: TopicHub<String, Event>
  private let log: LogConnection
  let counts: TopicCounts
  private let settings: Settings
  private let whenBuffersFill: @Sendable () -> Void
  private let closed = NIOLockedValueBox(false)

  /// - Parameter whenBuffersFill: called whenever a quarter of a buffer of events of a topic has been
  ///   sent, so that subscribers can read them before events are dropped.
  init(_ settings: Settings, whenBuffersFill: @escaping @Sendable () -> Void) {
    self.settings = settings
    self.whenBuffersFill = whenBuffersFill
    let log = LogConnection()
    self.log = log
    // What waits for streams is in the hub's retention too. At least one event is kept.
    hub = TopicHub(
      retention: .last(max(settings.historyEvents, settings.bufferLimit)),
      total: .bytes(max(settings.historyBytes, Self.size(of: settings.maxEventBytes))) { event in
        Self.size(of: event.frame.readableBytes)
      }
    ) { writer in
      log.writer = writer
      return log
    }
    counts = TopicCounts(hub)
  }

  /// The approximate memory of an event: its bytes, the object, and its part of the topic.
  private static func size(of bytes: Int) -> Int { bytes + 1024 }
}

/// Asks the log of the server, which is made after the hub.
private final class LogConnection: ExternalLog {
  private let state = NIOLockedValueBox<(log: (any EventLog)?, writer: ExternalLogWriter<Event>?)>(
    (nil, nil))

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

  func contains(_ position: EventPosition) async -> Bool? { await log?.contains(position) }
}

// MARK: - What the log does

extension Topics {
  /// Uses `log` for events that the hub does not retain. Call it before the first client connects.
  func connect(_ log: any EventLog) { self.log.log = log }

  /// Keeps an event, and sends it to the subscribers.
  ///
  /// - Returns: the number of subscribers it reached; 0 if the event is not newer than the newest.
  @discardableResult
  public func deliver(_ event: Event) -> Int {
    let name = event.topic.name
    guard let count = log.writer?.deliver(event, to: name, number: event.id) else { return 0 }
    let published = counts.add(name, reached: count)
    if count > 0, published % max(1, settings.bufferLimit / 4) == 0 { whenBuffersFill() }
    return count
  }

  /// Starts after `id`. The server has no valid events up to that id: it forgets those it kept.
  public func begin(after id: EventID) {
    log.writer?.begin(epoch: hub.newestPosition.epoch + 1, after: id)
  }

  /// Continues after `id`: the log does not have the events up to it any more.
  public func skip(through id: EventID) { log.writer?.skip(through: id) }

  /// Continues without a gap, and rejects unconfirmed claims of clients to have an event after
  /// `newest`: the log has no such event yet.
  public func rejectClaims(after newest: EventID) { log.writer?.refusePositions(after: newest) }

  /// The number of streams of `topic`.
  public func subscriberCount(of topic: Topic) -> Int { hub.subscriberCount(for: topic.name) }
}

// MARK: - Subscribing

/// The events of a new subscriber.
struct TopicSubscription: Sendable {
  /// The newest event of all topics at the time of the subscription; `nil` if the client already has
  /// an id, or if the newest event is unknown.
  let newest: EventID?
  let events: PositionedTopicSequence<Event>
}

extension Topics {
  /// Subscribes to `topic`.
  ///
  /// - Parameter id: the last event that the client has; `nil` if it has none.
  func subscribe(
    to topic: Topic, after id: EventID?, _ policy: StreamPolicy
  ) throws(Unavailable) -> TopicSubscription {
    guard !isClosed else { throw Unavailable("the server is shutting down") }
    let newest = hub.newestPosition
    var start = SubscriptionStart.live
    if let id {
      // Ids have no epoch: one that is not of this epoch is not that of an event, or of another one.
      let position = EventPosition(epoch: newest.epoch, number: id)
      start = .after(position, atMost: settings.historyEvents)
    }
    return TopicSubscription(
      newest: id == nil && newest.epoch > 0 ? newest.number : nil,
      events: hub.events(
        for: topic.name, from: start, buffering: policy.buffering(settings.bufferLimit)))
  }
}

// MARK: - Statistics and closing

extension Topics {
  /// Whether it refuses new events and streams.
  var isClosed: Bool { closed.withLockedValue { $0 } }

  /// Ends every stream after its pending events. From now on there are no events and no streams.
  func close() {
    closed.withLockedValue { $0 = true }
    hub.finish()
  }
}
