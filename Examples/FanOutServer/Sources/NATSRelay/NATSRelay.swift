#if NATS
  public import FanOutCore
  public import Logging
  public import Multicast
  internal import NIOPosix
  internal import ServiceLifecycle
  internal import Synchronization

  /// The log of a server that shares its topics with others through NATS.
  ///
  /// A JetStream stream stores the events of all topics of a prefix. Its sequence numbers are the
  /// ids of the events. Each server reads the whole stream in order and delivers to its own
  /// subscribers:
  ///
  ///     POST ──▶ publish ──▶ stream ──▶ reader ──▶ Topics ─▶ subscribers      (of each server)
  ///                 ◀─ id ─┘
  ///
  /// After a connection error, the relay opens a new connection, which continues to read where the
  /// last one ended. So each event is delivered exactly once, unless it leaves the stream first.
  public final class NATSRelay: EventLog {
    /// The stream that this server reads, and its last event.
    private struct Position {
      var created: Int64
      var last: EventID
    }

    /// A session, and whether this server reads the stream with it.
    private struct Connection {
      let session: Session
      var isReading = false
    }

    private let topics: Topics
    private let settings: RelaySettings
    private let logger: Logger
    /// One thread, to keep the order of events.
    private let reader = NIOThreadPool(numberOfThreads: 1)
    private let publishers = NIOThreadPool(numberOfThreads: Limits.publishingThreads)
    /// Fetches events for clients that reconnect: on separate threads, because it takes long.
    private let fetchers = NIOThreadPool(numberOfThreads: Limits.fetchingThreads)
    /// For short requests to the broker.
    private let queries = NIOThreadPool(numberOfThreads: 1)
    /// `nil` while disconnected.
    private let connection = Mutex<Connection?>(nil)
    /// The stream to which the positions of an epoch of the hub belong; `nil` before the first one.
    private let numbering = Mutex<(epoch: UInt64, created: Int64)?>(nil)
    private let publications = Publications()
    private let deliveries = Deliveries()
    /// Whether the server has stopped.
    // Relaxed: nothing is read because of it.
    private let hasStopped = Atomic(false)
    /// Why there is no session, if the broker can be reached. For clients: without details.
    private let sharedProblem = Mutex<String?>(nil)

    public init(_ settings: RelaySettings, _ topics: Topics, logger: Logger) {
      self.settings = settings
      self.topics = topics
      self.logger = logger
    }

    public var status: LogStatus { LogStatus(kind: "nats", isConnected: reading != nil) }

    /// The current session, which answers questions.
    private var current: Session? { connection.withLock { $0?.session } }

    /// The current session if this server has its place in the stream: it delivers each event that
    /// the broker takes in from now on.
    private var reading: Session? {
      connection.withLock { connection in
        guard let connection, connection.isReading else { return nil }
        return connection.session
      }
    }

    private var problem: String? {
      get { sharedProblem.withLock { $0 } }
      set { sharedProblem.withLock { $0 = newValue } }
    }
  }

  // MARK: - Publishing

  extension NATSRelay {
    /// Without a response, the event may or may not be in the stream. The relay sends it again with
    /// the same key, so that the broker does not store it twice.
    public func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      guard publications.begin() else { throw Unavailable("the server is shutting down") }
      var acknowledged: EventID?
      defer { publications.end(acknowledged) }
      let receipt = try await store(message, in: topic)
      acknowledged = receipt.id
      return receipt
    }

    private func store(_ message: Message, in topic: Topic) async throws(Unavailable) -> Receipt {
      guard reading != nil else { throw Unavailable(problem ?? "the broker cannot be reached") }
      // A name of a topic has no '/', so keys of different topics differ.
      let key =
        message.key.map { "\(topic.name)/\($0.text)" }
        ?? String(UInt128.random(in: .min ... .max), radix: 36)
      var isFirst = true
      let deadline = ContinuousClock.now + Limits.publication
      while ContinuousClock.now < deadline, !publications.isAbandoned {
        if let session = reading,
          let stored = try await send(message, topic, key, session, deadline)
        {
          // A later attempt may find what the first one has stored.
          return Receipt(
            id: stored.id, subscribers: topics.subscriberCount(of: topic),
            isRepeated: stored.isDuplicate && isFirst)
        }
        isFirst = false
        guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { break }
      }
      throw Unavailable("the broker did not answer in time: the event may have been taken in")
    }

    /// - Returns: `nil` if there was no response.
    private func send(
      _ message: Message, _ topic: Topic, _ key: String, _ session: Session,
      _ deadline: ContinuousClock.Instant
    ) async throws(Unavailable) -> Session.Stored? {
      do {
        return try await publishers.runIfActive {
          // Time has passed in the queue of the thread pool.
          let left = deadline - .now
          guard left > .milliseconds(1) else { return nil }
          return try session.publish(
            message, to: topic, key: key, within: min(left, Limits.answer).milliseconds)
        }
      } catch let error as BrokerError where error.isRefusal {
        throw Unavailable(
          "the broker refuses the event: \(error)", isTooLong: error.isTooLong)
      } catch {
        logger.debug("no answer to a publication: \(error)")
        return nil
      }
    }

    public func page(
      matching patterns: [TopicPattern], after position: EventPosition, through last: EventID
    ) async -> ExternalPage<Event>? {
      // Subjects have the same wildcards.
      await page(of: patterns.map(\.description), after: position, through: last)
    }

    /// Waits while the broker cannot be reached: otherwise the client would lose events that the
    /// stream still has.
    public func page(
      of topics: [String], after position: EventPosition, through last: EventID
    ) async -> ExternalPage<Event>? {
      guard position.number < last else { return nil }
      // The first failure in a row with a broker that is connected.
      var failure: ContinuousClock.Instant?
      var pause = Limits.firstFetchPause
      while !hasStopped.load(ordering: .relaxed) {
        // Another stream has other events with these numbers.
        guard let numbering = numbering.withLock({ $0 }), numbering.epoch == position.epoch
        else { return nil }
        if let session = current {
          do {
            return try await fetchers.runIfActive {
              try session.page(
                of: topics, after: position.number, through: last, created: numbering.created)
            }
          } catch {
            let first = failure ?? .now
            failure = first
            guard first.duration(to: .now) < Limits.fetch else {
              logger.info("events cannot be fetched: \(error)")
              return nil
            }
          }
        } else {
          failure = nil
        }
        // Ends if the client leaves.
        guard (try? await Task.sleep(for: pause)) != nil else { return nil }
        pause = min(pause * 2, Limits.longestFetchPause)
      }
      return nil
    }

    /// Asks the broker whether there is such an event.
    public func contains(_ position: EventPosition) async -> Bool? {
      guard let session = current else { return nil }
      guard let last = try? await queries.runIfActive({ try session.stream().last }) else {
        // The next session checks the claims.
        queries.submit { _ in session.close() }
        return nil
      }
      return position.number <= last
    }

    /// Waits for publications in progress, and until the broker has sent the acknowledged events
    /// back. Abandons publications that get no response in time.
    public func drain(within limit: Duration) async {
      let deadline = ContinuousClock.now + limit
      let last = await publications.finish(within: limit)
      if publications.isAbandoned, let session = current { queries.submit { _ in session.close() } }
      await deliveries.reach(last, within: deadline - .now)
    }
  }

  // MARK: - Reading

  extension NATSRelay {
    public func run() async throws {
      reader.start()
      publishers.start()
      fetchers.start()
      queries.start()
      await cancelWhenGracefulShutdown { await self.connectAndRead() }
      hasStopped.store(true, ordering: .relaxed)
      try await publishers.shutdownGracefully()
      try await fetchers.shutdownGracefully()
      try await queries.shutdownGracefully()
      try await reader.shutdownGracefully()
    }

    private func connectAndRead() async {
      var outage = Outage()
      var position: Position?
      // The addresses that were not tried yet, in random order.
      var urls: [Secret<String>] = []
      while !Task.isCancelled {
        // The server is shutting down: another connection would only delay it.
        guard !publications.isAbandoned else {
          try? await Task.sleep(for: .seconds(60))
          continue
        }
        if urls.isEmpty { urls = settings.urls.shuffled() }
        let url = urls.removeLast()
        do {
          let session = try await reader.runIfActive { [settings] in
            try Session(
              url, prefix: settings.prefix, credentials: settings.credentials,
              streamBytes: settings.streamBytes)
          }
          // Not awaited: closing may block the reader's thread, but must not delay this task.
          defer { reader.submit { _ in session.close() } }
          defer { connection.withLock { $0 = nil } }
          try await read(session, &position, &outage)
        } catch {
          let isOfStream = (error as? BrokerError)?.isOfStream ?? false
          let isNew = outage.isNew(isOfStream: isOfStream)
          let level: Logger.Level = isNew && !Task.isCancelled ? .warning : .debug
          problem = isOfStream ? "the stream of the broker is not available" : nil
          logger.log(level: level, "\(isOfStream ? "" : "the broker is not available: ")\(error)")
        }
        if urls.isEmpty { try? await Task.sleep(for: outage.backoff.next()) }
      }
    }

    /// Reads after `position` until the session or the server ends.
    private func read(
      _ session: Session, _ position: inout Position?, _ outage: inout Outage
    ) async throws {
      _ = try await reader.runIfActive { try session.stream() }
      // The stream exists. From here on, `contains(_:)` asks the broker. So the claims that were
      // accepted without asking are older than the mark, and the mark is older than the state,
      // which bounds them.
      connection.withLock { $0 = Connection(session: session) }
      let mark = topics.markClaims()
      let stream = try await reader.runIfActive { try session.stream() }
      var cursor = resume(position, stream, mark)
      defer { position = cursor }
      try await reader.runIfActive { [last = cursor.last] in try session.subscribe(after: last) }
      connection.withLock { $0?.isReading = true }
      outage = Outage()
      logger.info("reading from the broker after event \(cursor.last)")
      var nextCheck = ContinuousClock.now + Limits.streamCheckInterval
      // The last message of the stream at the last check, and whether any was read since.
      var checked = cursor.last
      var hasRead = false
      while !Task.isCancelled {
        for message in try await reader.runIfActive({ try session.read() }) {
          // The C library replaces a consumer that was lost before its first message by one that
          // begins with the stream.
          guard message.number > cursor.last else {
            throw BrokerError("the consumer has begun again")
          }
          hasRead = true
          if message.number > cursor.last + 1 { skip(from: cursor.last, to: message.number) }
          cursor.last = message.number
          if let event = message.event { topics.deliver(event) }
          deliveries.advance(to: message.number)
        }
        if ContinuousClock.now >= nextCheck {
          let now = try await reader.runIfActive { try session.stream() }
          guard now.created == cursor.created else { throw BrokerError("the stream was replaced") }
          if !hasRead, cursor.last < checked {
            // Of a lost consumer the C library learns much later.
            let next = try await reader.runIfActive { [last = cursor.last] in
              try session.first(after: last)
            }
            // What was deleted in the meantime does not come.
            if let next, next <= checked { throw BrokerError("the consumer sends nothing") }
          }
          (checked, hasRead) = (now.last, false)
          nextCheck = .now + Limits.streamCheckInterval
        }
      }
    }

    /// The position to continue from.
    private func resume(
      _ position: Position?, _ stream: StreamState, _ mark: PositionMark?
    ) -> Position {
      if let position, position.created == stream.created, position.last <= stream.last {
        topics.rejectClaims(after: stream.last, madeBefore: mark)
        return position
      }
      var start = stream.last
      if let position {
        logger.error("the stream was replaced or has lost events: ids begin again")
        publications.forget()
        // All events of a new stream are new. A stream that lost its end has no new ones.
        if position.created != stream.created { start = 0 }
      }
      // Before: a client may ask for a page at once.
      numbering.withLock { $0 = (topics.nextEpoch, stream.created) }
      topics.begin(after: start)
      deliveries.advance(to: start, isBeginning: true)
      return Position(created: stream.created, last: start)
    }

    /// Skips the events between these ids, which the stream does not have any more.
    private func skip(from last: EventID, to next: EventID) {
      logger.error("the stream does not have events \(last + 1) to \(next - 1) any more")
      topics.skip(through: next - 1)
    }
  }
#endif
