internal import Multicast

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Orders events: numbers them, keeps the newest, and sends each to the subscribers of its topic.
///
/// An actor, because numbering, keeping and sending must be one step, and so must reading the history
/// and subscribing. So every subscriber of a topic gets its events in the order of their ids, and a
/// replay neither overlaps the live events nor leaves a gap before them.
public actor Board {
  typealias Waiter = (id: EventID, continuation: CheckedContinuation<Void, Never>)

  private let bufferLimit: Int
  private let whenBuffersFill: @Sendable () -> Void
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private let historyLimits: History.Limits
  private var history: History
  private var rooms: [Topic: Room] = [:]
  private var lastID: EventID
  /// Whether `lastID` is known. It is 0 until the log calls ``begin(after:)``.
  private var hasBegun: Bool
  private var departed = BoardStatistics.Departed()
  /// The newest turn, at which new streams begin.
  private var turn = Turn()
  /// Callers that wait for an event.
  private(set) var waiters: [Int: Waiter] = [:]
  private var waiterCount = 0
  /// Whether it refuses new events.
  private(set) var isClosed = false

  /// - Parameters:
  ///   - historyEvents: events kept per topic for replay.
  ///   - historyBytes: limit of the memory of kept events, for all topics together.
  ///   - bufferLimit: events that may wait for one subscriber.
  ///   - id: the id before the first event; `nil` if ``begin(after:)`` sets it later.
  ///   - whenBuffersFill: called whenever a quarter of a buffer of events of a topic has been sent, so
  ///     that subscribers can read them before events are dropped.
  public init(
    historyEvents: Int, historyBytes: Int, bufferLimit: Int, startingAfter id: EventID?,
    whenBuffersFill: @escaping @Sendable () -> Void = {}
  ) {
    self.bufferLimit = bufferLimit
    self.whenBuffersFill = whenBuffersFill
    historyLimits = History.Limits(eventsPerTopic: historyEvents, bytes: historyBytes)
    history = History(historyLimits, after: id ?? 0)
    lastID = id ?? 0
    hasBegun = id != nil
    start = clock.now
  }

  public static var microsecondsSince1970: EventID {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return EventID(max(0, now.tv_sec)) * 1_000_000 + EventID(now.tv_nsec) / 1000
  }
}

// MARK: - Publishing

extension Board {
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
    guard event.id > lastID else { return 0 }
    lastID = event.id
    if !waiters.isEmpty { wakeWaiters(through: lastID) }
    let room = room(event.topic)
    let count = room.send(event, after: turn, at: second)
    if count > 0, room.published % max(1, bufferLimit / 4) == 0 { whenBuffersFill() }
    room.kept += 1
    for topic in history.append(event) { forgetOne(of: topic) }
    return count
  }

  /// Starts after `id`. The server has no valid events up to that id: it forgets those it kept.
  public func begin(after id: EventID) {
    take(.start(after: id, last: hasBegun ? lastID : nil))
    hasBegun = true
    forget(through: id)
  }

  /// Continues after `id`: the log does not have the events up to it any more.
  public func skip(through id: EventID) {
    guard id > lastID else { return }
    take(.gap(Gap(after: lastID, through: id)))
    forget(through: id)
  }

  /// Continues without a gap, and rejects unconfirmed claims of clients to have an event after
  /// `newest`: the log has no such event yet.
  public func rejectClaims(after newest: EventID) {
    take(.bound(newest: newest, last: lastID))
  }

  /// Streams handle the turn with their next event; at once if ``Turn/wakes``.
  private func take(_ kind: Turn.Kind) {
    turn = turn.append(kind)
    guard turn.wakes else { return }
    for room in rooms.values { room.hub.send(Entry(nil, turn)) }
  }

  private func forget(through id: EventID) {
    history = History(historyLimits, after: id)
    lastID = id
    wakeWaiters(through: id)
    for (topic, room) in rooms {
      room.kept = 0
      removeIfUnused(topic)
    }
  }

  /// The number of streams of `topic`.
  public func subscriberCount(of topic: Topic) -> Int {
    rooms[topic]?.hub.subscriberCount ?? 0
  }
}

// MARK: - Waiting

extension Board {
  /// Waits until event `id` or a later one is delivered, at most for `limit`.
  ///
  /// - Returns: whether it was delivered.
  @discardableResult
  public func reach(_ id: EventID, within limit: Duration) async -> Bool {
    guard id > lastID, limit > .zero, !isClosed else { return hasBegun && id <= lastID }
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

  private func wakeWaiters(through id: EventID) {
    for (number, waiter) in waiters where waiter.id <= id {
      waiters[number] = nil
      waiter.continuation.resume()
    }
  }
}

// MARK: - Subscribing

extension Board {
  /// Subscribes to `topic`.
  ///
  /// - Parameters:
  ///   - id: the last event that the client has; `nil` if it has none.
  ///   - arrival: whether that event is still to be delivered. Then the client gets the events after
  ///     it.
  func subscribe(
    to topic: Topic, after id: EventID?, _ arrival: Arrival, _ policy: StreamPolicy
  ) throws(Unavailable) -> Feed {
    guard !isClosed else { throw Unavailable("the server is shutting down") }
    let room = room(topic)
    room.streams += 1
    return Feed(
      TopicReference(topic, self), newest: id == nil && hasBegun ? lastID : nil,
      id.map { start(of: topic, after: $0, arrival) } ?? Feed.Start(place: Place(turn)),
      live: room.hub.events(buffering: policy.buffering(bufferLimit)))
  }

  private func start(of topic: Topic, after id: EventID, _ arrival: Arrival) -> Feed.Start {
    if !hasBegun || arrival != .notExpected && id > lastID {
      let ahead = Place.Ahead(id: id, isClaim: arrival != .expected)
      return Feed.Start(place: Place(turn, ahead))
    }
    let replay = history.replay(topic, after: id, last: lastID)
    return Feed.Start(
      gap: replay.missingThrough.map { Gap(after: id, through: $0) }, replay: replay.events,
      place: Place(turn))
  }

  /// Releases a stream of `topic`. Only ``TopicReference`` calls it.
  func leave(_ topic: Topic) {
    rooms[topic]?.streams -= 1
    removeIfUnused(topic)
  }

  private func room(_ topic: Topic) -> Room {
    if let room = rooms[topic] { return room }
    let room = Room()
    rooms[topic] = room
    return room
  }

  /// Counts an event of `topic` that the history has removed.
  private func forgetOne(of topic: Topic) {
    rooms[topic]?.kept -= 1
    removeIfUnused(topic)
  }

  private func removeIfUnused(_ topic: Topic) {
    guard let room = rooms[topic], room.isUnused else { return }
    let statistics = room.statistics(topic, at: second)
    departed.published += statistics.published
    departed.reached += statistics.reached
    departed.dropped += statistics.dropped
    rooms[topic] = nil
  }
}

// MARK: - Statistics and closing

extension Board {
  /// - Complexity: O(1).
  var statistics: BoardStatistics {
    BoardStatistics(
      rooms: rooms, departed: departed, historyEvents: history.count, historyBytes: history.bytes,
      second: second)
  }

  /// Ends every stream after its pending events. From now on the board refuses events and streams.
  func close() {
    isClosed = true
    wakeWaiters(through: .max)
    for room in rooms.values { room.hub.finish() }
  }

  private var second: Int { Int((clock.now - start).components.seconds) }
}
