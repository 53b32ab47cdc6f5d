public import FanOutCore
public import Logging
public import Multicast
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// The log of a single server that stores its events, so that a restart loses none that it
/// acknowledged.
///
///     POST ──▶ publish ──▶ transaction ──▶ Topics ──▶ subscribers
///                 ◀─────── id ─┘
///
/// An event is stored on the disk before it is acknowledged and delivered. Publications that arrive
/// during a transaction are stored together in the next one, so that they share its wait for the
/// disk.
public final class SQLiteStore: EventLog {
  /// Fetches for clients at the same time.
  static let readingThreads = 4
  /// Events and bytes of one transaction.
  private static let batchEvents = 1024
  private static let batchBytes = 4 << 20
  /// Events and bytes of one fetch for a client that reconnects. A client that does not read keeps
  /// them in memory: so few bytes, or one event.
  static let pageEvents = 256
  private static let pageBytes = 64 << 10
  /// Events and bytes that the server keeps in memory at the start, so that clients that reconnect
  /// after a restart rarely need the disk.
  private static let restoredEvents = 10_000
  private static let restoredBytes = 16 << 20
  /// How often the store removes old events, and checks its files, and, after an error, whether it
  /// can write.
  private static let maintenanceInterval = Duration.seconds(1)
  /// How long a read is repeated if the store can be written: longer than it takes to notice that
  /// it cannot.
  private static let readAttempts = Duration.seconds(5)
  /// Between two attempts; doubled each time, because many clients may wait.
  private static let firstReadPause = Duration.milliseconds(100)
  private static let longestReadPause = Duration.seconds(2)
  /// How often the log says that events cannot be read: each client that reconnects may find that.
  private static let readErrorInterval = Duration.seconds(30)

  private let topics: Topics
  private let database: EventDatabase
  private let logger: Logger
  /// One thread, to keep the order of events.
  private let writer = NIOThreadPool(numberOfThreads: 1)
  private let readers = NIOThreadPool(numberOfThreads: readingThreads)
  private let publications = Publications()
  /// Why the last transaction failed, and how many bytes it had; `nil` if it did not.
  private let problem = Mutex<(error: StoreError, bytes: Int)?>(nil)
  /// Pages that could not be read and are not in the log, and when the next message may be.
  private let unreadPages = Mutex((count: 0, nextMessage: ContinuousClock.now))
  private let removesOldEvents: Bool

  /// The newest stored events, from ``EventDatabase/newest(events:bytes:since:)``, and the keys of
  /// their publishers.
  public struct Restored: Sendable {
    let after: EventID
    let events: [Event]
    let keys: [EventDatabase.KeyedEvent]

    /// - Parameter limit: the maximum number of keys.
    public init(_ database: EventDatabase, keys limit: Int) throws(StoreError) {
      (after, events) = try database.newest(
        events: SQLiteStore.restoredEvents, bytes: SQLiteStore.restoredBytes,
        since: database.oldestTime)
      keys = try database.newestKeys(limit)
    }
  }

  /// - Parameter restored: of `database`, which has stored nothing since.
  public init(
    _ database: EventDatabase, _ restored: Restored, _ topics: Topics, logger: Logger
  ) {
    self.database = database
    self.topics = topics
    self.logger = logger
    removesOldEvents = database.removesOldEvents
    topics.begin(after: restored.after)
    for event in restored.events { topics.restore(event) }
    for event in restored.keys { topics.restore(event.key, of: event.topic, event.id) }
    writer.start()
    readers.start()
  }
}

// MARK: - Publishing

extension SQLiteStore {
  public func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
    try await publish([Publication(message: message, topic: topic)])[0].get()
  }

  /// Stores all of them in one transaction.
  public func publish(_ events: [Publication]) async -> [Result<Receipt, Unavailable>] {
    let result = await withCheckedContinuation { continuation in
      switch publications.add(Publications.Batch(events: events, continuation: continuation)) {
      case .waits: break
      case .starts: write()
      case .refused:
        continuation.resume(returning: .failure(Unavailable("the server is shutting down")))
      }
    }
    switch result {
    case .success(let receipts): return receipts.map { .success($0) }
    case .failure(let error): return events.map { _ in .failure(error) }
    }
  }

  /// Makes the writing thread store what waits, in one transaction, and then what has come since.
  /// Its other work comes between two transactions.
  private func write() {
    // What a transaction has more than the store may keep, the file has more too.
    let bytes = min(Self.batchBytes, database.settings.maxBytes / 4)
    writer.submit { [self] state in
      let batches = publications.take(events: Self.batchEvents, bytes: bytes)
      guard !batches.isEmpty else { return }
      switch state {
      case .active: store(batches)
      // The time of a drain is over.
      case .cancelled: refuse(batches, "the server is shutting down")
      }
      write()
    }
  }

  private func store(_ batches: [Publications.Batch]) {
    let last = database.last.withLock { $0 }
    let rows = batches.flatMap(\.events).enumerated().map { index, publication in
      EventDatabase.Entry(
        id: last + EventID(index) + 1, topic: publication.topic, message: publication.message)
    }
    let bytes = rows.reduce(0) { $0 + $1.message.data.readableBytes }
    let error = attempt(bytes) { () throws(StoreError) in try database.store(rows) }
    guard let error else {
      var receipts = rows.map { row in
        let event = Event(id: row.id, topic: row.topic, message: row.message)
        return Receipt(id: row.id, subscribers: topics.deliver(event) ?? 0)
      }[...]
      for batch in batches {
        batch.continuation.resume(returning: .success(Array(receipts.prefix(batch.events.count))))
        receipts = receipts.dropFirst(batch.events.count)
      }
      return
    }
    refuse(batches, error.description)
  }

  private func refuse(_ batches: [Publications.Batch], _ reason: String) {
    for batch in batches { batch.continuation.resume(returning: .failure(Unavailable(reason))) }
  }

  /// Records whether `write` fails.
  private func attempt(_ bytes: Int, _ write: () throws(StoreError) -> Void) -> StoreError? {
    var failure: StoreError?
    do { try write() } catch { failure = error }
    let wasFailing = problem.withLock { problem in
      defer { problem = failure.map { ($0, bytes) } }
      return problem != nil
    }
    switch failure {
    case let failure? where !wasFailing: logger.error("events cannot be stored: \(failure)")
    case nil where wasFailing: logger.notice("events can be stored again")
    default: break
    }
    return failure
  }

  public func drain(within limit: Duration) async { await publications.finish(within: limit) }
}

// MARK: - Reading

extension SQLiteStore {
  public func page(
    of topics: [String], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? {
    await page(of: .names(topics), after: position, through: last)
  }

  public func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? {
    await page(of: .patterns(patterns), after: position, through: last)
  }

  /// Waits while the store is not available: otherwise the client would lose events that the store
  /// still has.
  private func page(
    of topics: EventDatabase.StoredTopics, after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? {
    // The first failure in a row of a store that can be written.
    var failure: ContinuousClock.Instant?
    var pause = Self.firstReadPause
    while true {
      do {
        return try await readers.runIfActive { [database] in
          try database.page(
            of: topics, after: position.number, through: last, events: Self.pageEvents,
            bytes: Self.pageBytes)
        }
      } catch is CancellationError {
        // The client has left, or the server ends.
        return nil
      } catch {
        logUnreadPage(error)
        let first = failure ?? .now
        failure = problem.withLock { $0 == nil } ? first : nil
        guard first.duration(to: .now) < Self.readAttempts else { return nil }
      }
      guard (try? await Task.sleep(for: pause)) != nil else { return nil }
      pause = min(pause * 2, Self.longestReadPause)
    }
  }

  private func logUnreadPage(_ error: any Error) {
    let count = unreadPages.withLock { pages in
      pages.count += 1
      guard .now >= pages.nextMessage else { return 0 }
      pages.nextMessage = .now + Self.readErrorInterval
      defer { pages.count = 0 }
      return pages.count
    }
    guard count > 0 else { return }
    logger.error("events cannot be read\(count == 1 ? "" : " (\(count) pages)"): \(error)")
  }

  public func contains(_ position: EventPosition) async -> Bool? {
    position.number <= database.last.withLock { $0 }
  }
}

// MARK: - Running

extension SQLiteStore {
  public func run() async throws {
    await cancelWhenGracefulShutdown { await self.maintain() }
    await publications.finish(within: .zero)
    try await writer.shutdownGracefully()
    try await readers.shutdownGracefully()
    database.close()
  }

  /// Removes old events, and checks whether the store can be written again, without a publication.
  private func maintain() async {
    while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil {
      var hasMore = true
      while hasMore {
        // The task may be cancelled.
        hasMore = (try? await writer.runIfActive { [self] in maintainOnce() }) ?? false
      }
    }
  }

  /// - Returns: whether there are more old events.
  private func maintainOnce() -> Bool {
    let failed = problem.withLock { $0?.bytes }
    var hasMore = false
    _ = attempt(failed ?? 0) { () throws(StoreError) in
      try database.check()
      if let failed { try database.probe(failed) }
      if failed != nil || removesOldEvents { hasMore = try database.removeExcess(byAge: true) }
    }
    return hasMore
  }

  public var status: LogStatus {
    let problem = problem.withLock { $0 }
    return LogStatus(
      kind: "sqlite", isConnected: problem == nil, problem: problem?.error.description)
  }
}
