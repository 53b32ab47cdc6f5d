internal import Multicast
internal import NIOConcurrencyHelpers

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Where events become ordered: it numbers them, keeps the newest, and hands each to the
/// subscribers of its topic.
///
/// An actor, because numbering, keeping and sending must be one step, and so must looking into the
/// history and subscribing. So every subscriber of a topic sees its events in the order of their
/// ids, and a replay neither overlaps what comes after it nor leaves a gap.
public actor Board {
  typealias Waiter = (id: EventID, continuation: CheckedContinuation<Void, Never>)

  private let bufferLimit: Int
  private let whenPressed: @Sendable () -> Void
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private let historyLimits: History.Limits
  private var history: History
  private var rooms: [Topic: Room] = [:]
  private var lastID: EventID
  /// Whether `lastID` says where events begin. Before the first of a log, it is 0.
  private var hasBegun: Bool
  /// Totals of topics that are gone.
  private var departed = (published: 0, reached: 0, dropped: 0)
  /// Whether ids have begun again since, for those who have subscribed.
  private var isOutdated = NIOLockedValueBox(false)
  /// Those who wait for an event.
  private(set) var waiters: [Int: Waiter] = [:]
  private var waiterCount = 0
  /// Whether it takes nothing in any more.
  private(set) var isClosed = false

  /// - Parameters:
  ///   - historyEvents: how many events of a topic are kept for replay.
  ///   - historyBytes: how many bytes the kept events of all topics may take.
  ///   - bufferLimit: how many events may wait for a subscriber.
  ///   - id: the id before the first event; `nil` if ``begin(after:)`` will say.
  ///   - whenPressed: called when so many events of a topic have come that buffers may soon be full,
  ///     so that subscribers who are quick enough lose nothing.
  public init(
    historyEvents: Int, historyBytes: Int, bufferLimit: Int, startingAfter id: EventID?,
    whenPressed: @escaping @Sendable () -> Void = {}
  ) {
    self.bufferLimit = bufferLimit
    self.whenPressed = whenPressed
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

  /// Takes in an event that has its id from elsewhere: keeps it, and hands it to the subscribers.
  ///
  /// - Returns: how many subscribers it reached; 0 if it is not newer than the newest.
  @discardableResult
  public func deliver(_ event: Event) -> Int {
    guard event.id > lastID else { return 0 }
    lastID = event.id
    if !waiters.isEmpty { wakeWaiters(through: lastID) }
    let room = room(event.topic)
    let count = room.send(event, at: second)
    if count > 0, room.published % max(1, bufferLimit / 4) == 0 { whenPressed() }
    for emptied in history.append(event) { removeIfUnused(emptied) }
    return count
  }

  /// Begins after `id`, which comes from elsewhere: this server knows nothing of what was before.
  public func begin(after id: EventID) {
    if !hasBegun { tellAll(.start(id)) }
    hasBegun = true
    isOutdated.withLockedValue { $0 = true }
    isOutdated = NIOLockedValueBox(false)
    forget(through: id)
  }

  /// Goes on after `id`: the events up to it cannot be had from elsewhere any more.
  public func skip(through id: EventID) {
    guard id > lastID else { return }
    tellAll(.gap(Gap(after: lastID, through: id)))
    forget(through: id)
  }

  /// It counts for a subscriber's buffer as an event does, but nowhere else.
  private func tellAll(_ entry: Entry) {
    for room in rooms.values { room.hub.send(entry) }
  }

  private func forget(through id: EventID) {
    history = History(historyLimits, after: id)
    lastID = id
    wakeWaiters(through: id)
    for topic in rooms.keys { removeIfUnused(topic) }
  }

  /// How many streams `topic` has.
  public func subscriberCount(of topic: Topic) -> Int {
    rooms[topic]?.hub.subscriberCount ?? 0
  }
}

// MARK: - Waiting

extension Board {
  /// Waits until event `id` or a later one was delivered, but no longer than `limit`.
  ///
  /// - Returns: whether it was.
  @discardableResult
  public func reach(_ id: EventID, within limit: Duration) async -> Bool {
    guard id > lastID, limit > .zero, !isClosed else { return id <= lastID }
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
  ///   - id: the last event that the client has, if it had any.
  ///   - isComing: whether that one may still be to be delivered, if it was not yet. Then the client
  ///     gets what comes after it.
  func subscribe(
    to topic: Topic, after id: EventID?, isComing: Bool = false, _ policy: StreamPolicy
  ) throws(Unavailable) -> Feed {
    guard !isClosed else { throw Unavailable("the server is shutting down") }
    let room = room(topic)
    room.streams += 1
    let isAhead = isComing && (id ?? 0) > lastID
    let replay = isAhead ? nil : id.map { history.replay(topic, after: $0, last: lastID) }
    var gap: Gap?
    if let id, let through = replay?.missingThrough { gap = Gap(after: id, through: through) }
    return Feed(
      Seat(topic, self), newest: id == nil && hasBegun ? lastID : nil, gap: gap,
      replay: replay?.events ?? [],
      ahead: isAhead ? id.map { Feed.Ahead(id: $0, isOutdated: isOutdated) } : nil,
      live: room.hub.events(buffering: policy.buffering(bufferLimit)))
  }

  /// A stream of `topic` is over, and so is its subscription. A ``Seat`` says so.
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

  private func removeIfUnused(_ topic: Topic) {
    guard let room = rooms[topic], room.streams == 0, history.count(of: topic) == 0 else { return }
    departed.published += room.published
    departed.reached += room.reached
    departed.dropped += room.hub.statistics.dropped
    rooms[topic] = nil
  }
}

// MARK: - Looking and closing

extension Board {
  var figures: BoardFigures {
    let topics = rooms.map { topic, room in
      room.figures(topic, kept: history.count(of: topic), at: second)
    }
    return BoardFigures(
      topics: topics.sorted { $0.topic < $1.topic },
      published: departed.published + topics.reduce(0) { $0 + $1.published },
      reached: departed.reached + topics.reduce(0) { $0 + $1.reached },
      dropped: departed.dropped + topics.reduce(0) { $0 + $1.dropped },
      pending: topics.reduce(0) { $0 + $1.pending },
      historyEvents: history.count, historyBytes: history.bytes, lastID: lastID)
  }

  /// Ends every stream, after what waits for it. From now on nothing is taken in.
  func close() {
    isClosed = true
    wakeWaiters(through: .max)
    for room in rooms.values { room.hub.finish() }
  }

  private var second: Int { Int((clock.now - start).components.seconds) }
}
