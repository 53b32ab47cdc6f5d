internal import Multicast
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The topics of a server: a hub that retains their events, and the numbers of the events.
///
/// An actor, because numbering and delivering must be one step: so every subscriber of a topic gets its
/// events in the order of their ids, which are the positions of the hub. Events of a relay have their
/// ids; see ``EventLog``.
public actor Topics {
  typealias Waiter = (id: EventID, continuation: CheckedContinuation<Void, Never>)

  nonisolated let hub: TopicHub<String, Event>
  private let log: LogConnection
  private let counts: TopicCounts
  /// The most events with which a stream begins.
  private let historyEvents: Int
  private let bufferLimit: Int
  private let whenBuffersFill: @Sendable () -> Void
  private var lastID: EventID = 0
  /// How often ids have begun: the epoch of the hub.
  private var beginnings: UInt64 = 0
  /// Callers that wait for an event.
  private(set) var waiters: [Int: Waiter] = [:]
  private var waiterCount = 0
  /// Whether it refuses new events.
  private(set) var isClosed = false

  /// - Parameters:
  ///   - historyEvents: events of a topic that a client gets which reconnects.
  ///   - historyBytes: limit of the memory of kept events, for all topics together.
  ///   - bufferLimit: events that may wait for one subscriber.
  ///   - maxEventBytes: the longest event. At least one is kept.
  ///   - id: the id before the first event; `nil` if ``begin(after:)`` sets it later.
  ///   - whenBuffersFill: called whenever a quarter of a buffer of events of a topic has been sent, so
  ///     that subscribers can read them before events are dropped.
  public init(
    historyEvents: Int, historyBytes: Int, bufferLimit: Int, maxEventBytes: Int = 0,
    startingAfter id: EventID?, whenBuffersFill: @escaping @Sendable () -> Void = {}
  ) {
    self.historyEvents = historyEvents
    self.bufferLimit = bufferLimit
    self.whenBuffersFill = whenBuffersFill
    // What waits for streams is in the hub's retention too.
    let log = LogConnection()
    self.log = log
    hub = TopicHub(
      retention: .last(max(historyEvents, bufferLimit)),
      total: .bytes(max(historyBytes, Self.size(of: maxEventBytes))) { event in
        Self.size(of: event.frame.readableBytes)
      }
    ) { writer in
      log.writer = writer
      return log
    }
    counts = TopicCounts(hub)
    guard let id else { return }
    lastID = id
    beginnings = 1
    log.writer?.begin(epoch: 1, after: id)
  }

  public static var microsecondsSince1970: EventID {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return EventID(max(0, now.tv_sec)) * 1_000_000 + EventID(now.tv_nsec) / 1000
  }

  /// The approximate memory of an event: its bytes, the object, and its part of the topic.
  private static func size(of bytes: Int) -> Int { bytes + 1024 }
}

// MARK: - Publishing

extension Topics {
  /// Uses `log` for events that the hub does not retain. Call it before the first client connects.
  func connect(_ log: any EventLog) { self.log.log = log }

  /// Gives `message` the next id and delivers it.
  public func append(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt {
    guard !isClosed else { throw Unavailable("the server is shutting down") }
    let event = Event(id: lastID + 1, topic: topic, message: message)
    return Receipt(id: event.id, subscribers: deliver(event))
  }

  /// Keeps an event that already has its id, and sends it to the subscribers.
  ///
  /// - Returns: the number of subscribers it reached; 0 if the event is not newer than the newest.
  @discardableResult
  public func deliver(_ event: Event) -> Int {
    let name = event.topic.name
    guard let count = log.writer?.deliver(event, to: name, number: event.id) else { return 0 }
    advance(to: event.id)
    let published = counts.add(name, reached: count)
    if count > 0, published % max(1, bufferLimit / 4) == 0 { whenBuffersFill() }
    return count
  }

  /// Starts after `id`. The server has no valid events up to that id: it forgets those it kept.
  public func begin(after id: EventID) {
    beginnings += 1
    lastID = 0
    log.writer?.begin(epoch: beginnings, after: id)
    advance(to: id)
  }

  /// Continues after `id`: the log does not have the events up to it any more.
  public func skip(through id: EventID) {
    guard id > lastID else { return }
    log.writer?.skip(through: id)
    advance(to: id)
  }

  /// Continues without a gap, and rejects unconfirmed claims of clients to have an event after
  /// `newest`: the log has no such event yet.
  public func rejectClaims(after newest: EventID) {
    log.writer?.refusePositions(after: newest)
  }

  private func advance(to id: EventID) {
    lastID = max(lastID, id)
    for (number, waiter) in waiters where waiter.id <= lastID {
      waiters[number] = nil
      waiter.continuation.resume()
    }
  }

  /// The number of streams of `topic`.
  public nonisolated func subscriberCount(of topic: Topic) -> Int {
    hub.subscriberCount(for: topic.name)
  }
}

// MARK: - Waiting

extension Topics {
  /// Waits until event `id` or a later one is delivered, at most for `limit`.
  ///
  /// - Returns: whether it was delivered.
  @discardableResult
  public func reach(_ id: EventID, within limit: Duration) async -> Bool {
    guard id > lastID, limit > .zero, !isClosed else { return beginnings > 0 && id <= lastID }
    waiterCount += 1
    let number = waiterCount
    let timer = Task {
      try? await Task.sleep(for: limit)
      waiters.removeValue(forKey: number)?.continuation.resume()
    }
    await withCheckedContinuation { waiters[number] = (id, $0) }
    timer.cancel()
    return id <= lastID
  }
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
      // Ids have no epoch: a client that has an id of another one gets a notice of missed events.
      start = .after(EventPosition(epoch: newest.epoch, number: id), atMost: historyEvents)
    }
    return TopicSubscription(
      newest: id == nil && newest.epoch > 0 ? newest.number : nil,
      events: hub.events(
        for: topic.name, from: start, buffering: policy.buffering(bufferLimit)))
  }
}

// MARK: - Statistics and closing

extension Topics {
  nonisolated var statistics: ServerStatistics { ServerStatistics(hub, counts) }

  /// Ends every stream after its pending events. From now on there are no events and no streams.
  func close() {
    isClosed = true
    for waiter in waiters.values { waiter.continuation.resume() }
    waiters = [:]
    hub.finish()
  }
}
