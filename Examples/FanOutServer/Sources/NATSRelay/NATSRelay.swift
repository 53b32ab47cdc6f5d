#if NATS
  public import FanOutCore
  public import Logging
  internal import NIOPosix
  internal import ServiceLifecycle
  internal import Synchronization

  /// The log of a server that shares its topics with others through NATS.
  ///
  /// A JetStream stream holds the events of all topics of a prefix, and its sequence numbers are their
  /// ids. Each server reads the whole stream in order and delivers to its own subscribers:
  ///
  ///     POST ──▶ publish ──▶ stream ──▶ reader ──▶ Board ──▶ subscribers      (of each server)
  ///                 ◀─ id ─┘
  ///
  /// A connection that breaks is not repaired but followed by another one, which reads on where the
  /// last one ended. So nothing is lost, and nothing comes twice, however it broke.
  public final class NATSRelay: EventLog {
    /// Where in which stream this server has read.
    private struct Position {
      var created: Int64
      var last: EventID
    }

    private let board: Board
    private let settings: RelaySettings
    private let logger: Logger
    /// One thread, so that nothing overtakes.
    private let reader = NIOThreadPool(numberOfThreads: 1)
    private let publishers = NIOThreadPool(numberOfThreads: Limits.publishingThreads)
    /// For clients that come back. What they ask for takes long, and delays none of the others.
    private let fetchers = NIOThreadPool(numberOfThreads: Limits.fetchingThreads)
    /// For short questions.
    private let queries = NIOThreadPool(numberOfThreads: 1)
    /// The one that stands, if any.
    private let session = Mutex<Session?>(nil)
    private let publications = Publications()

    public init(_ settings: RelaySettings, _ board: Board, logger: Logger) {
      self.settings = settings
      self.board = board
      self.logger = logger
    }

    public var status: LogStatus { LogStatus(kind: "nats", isConnected: current != nil) }

    private var current: Session? {
      get { session.withLock { $0 } }
      set { session.withLock { $0 = newValue } }
    }
  }

  // MARK: - Publishing

  extension NATSRelay {
    /// If the broker gives no answer, the event may be in the stream or not. It is sent again with the
    /// same key, and the broker does not store it twice.
    public func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      guard publications.begin() else { throw Unavailable("the server is shutting down") }
      var acknowledged: EventID?
      defer { publications.end(acknowledged) }
      let receipt = try await store(message, in: topic)
      acknowledged = receipt.id
      return receipt
    }

    private func store(_ message: Message, in topic: Topic) async throws(Unavailable) -> Receipt {
      guard current != nil else { throw Unavailable("the broker cannot be reached") }
      let key = String(UInt128.random(in: .min ... .max), radix: 36)
      let deadline = ContinuousClock.now + Limits.publication
      while ContinuousClock.now < deadline, !publications.isGivenUp {
        if let session = current, let id = try await send(message, topic, key, session, deadline) {
          return Receipt(id: id, subscribers: await board.subscriberCount(of: topic))
        }
        guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { break }
      }
      throw Unavailable("the broker did not answer in time: the event may have been taken in")
    }

    /// - Returns: `nil` if there was no answer.
    private func send(
      _ message: Message, _ topic: Topic, _ key: String, _ session: Session,
      _ deadline: ContinuousClock.Instant
    ) async throws(Unavailable) -> EventID? {
      do {
        return try await publishers.runIfActive {
          // It has waited for its turn.
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

    /// If the broker is away, it is given a moment to come back.
    public func page(of topic: Topic, after id: EventID, through last: EventID) async -> Page? {
      guard id < last else { return nil }
      let deadline = ContinuousClock.now + Limits.fetch
      while true {
        do {
          guard let session = current else { throw BrokerError("the broker cannot be reached") }
          return try await fetchers.runIfActive {
            try session.page(of: topic, after: id, through: last)
          }
        } catch {
          guard ContinuousClock.now < deadline,
            (try? await Task.sleep(for: .milliseconds(100))) != nil
          else {
            logger.info("events cannot be fetched: \(error)")
            return nil
          }
        }
      }
    }

    /// The broker knows whether there is such an event.
    public func arrival(of id: EventID) async -> Arrival {
      if await board.reach(id, within: .zero) { return .notExpected }
      guard let session = current else { return .unknown }
      guard let last = try? await queries.runIfActive({ try session.stream().last }) else {
        // The next session says what to believe.
        queries.submit { _ in session.close() }
        return .unknown
      }
      guard id <= last else { return .notExpected }
      await board.reach(id, within: Limits.arrival)
      return .expected
    }

    /// What was acknowledged comes back from the broker. Publications that get no answer are given
    /// up.
    public func drain(within limit: Duration) async {
      let deadline = ContinuousClock.now + limit
      let last = await publications.finish(within: limit)
      if publications.isGivenUp, let session = current { queries.submit { _ in session.close() } }
      await board.reach(last, within: deadline - .now)
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
      try await publishers.shutdownGracefully()
      try await fetchers.shutdownGracefully()
      try await queries.shutdownGracefully()
      try await reader.shutdownGracefully()
    }

    private func connectAndRead() async {
      var backoff = Backoff()
      var position: Position?
      // Those that were not tried yet, in any order.
      var urls: [Secret<String>] = []
      while !Task.isCancelled {
        // Then the server is about to end, and another connection would only delay it.
        guard !publications.isGivenUp else {
          try? await Task.sleep(for: .seconds(60))
          continue
        }
        if urls.isEmpty { urls = settings.urls.shuffled() }
        let url = urls.removeLast()
        do {
          let session = try await reader.runIfActive { [settings] in
            try Session(url, prefix: settings.prefix)
          }
          // Not awaited: the thread of the reader has the time.
          defer { reader.submit { _ in session.close() } }
          defer { current = nil }
          try await read(session, &position, &backoff)
        } catch {
          // Once, and not with each attempt.
          let level: Logger.Level = backoff.isFresh && !Task.isCancelled ? .warning : .debug
          logger.log(level: level, "the broker is away: \(error)")
        }
        if urls.isEmpty { try? await Task.sleep(for: backoff.next()) }
      }
    }

    /// Reads on after `position` until the session or the server ends.
    private func read(
      _ session: Session, _ position: inout Position?, _ backoff: inout Backoff
    ) async throws {
      _ = try await reader.runIfActive { try session.stream() }
      // There is one. From here on the broker is asked for what a client may have; so one that was
      // believed said so before, and the stream is looked at only now.
      current = session
      let stream = try await reader.runIfActive { try session.stream() }
      var cursor = await resume(position, stream)
      defer { position = cursor }
      try await reader.runIfActive { [last = cursor.last] in try session.subscribe(after: last) }
      backoff.reset()
      logger.info("reading from the broker after event \(cursor.last)")
      var nextCheck = ContinuousClock.now + Limits.streamCheckInterval
      while !Task.isCancelled {
        for message in try await reader.runIfActive({ try session.read() }) {
          if message.number > cursor.last + 1 { await skip(from: cursor.last, to: message.number) }
          cursor.last = message.number
          if let event = message.event { await board.deliver(event) }
        }
        if ContinuousClock.now >= nextCheck {
          let now = try await reader.runIfActive { try session.stream() }
          guard now.created == cursor.created else { throw BrokerError("the stream was replaced") }
          nextCheck = .now + Limits.streamCheckInterval
        }
      }
    }

    /// Where to read on.
    private func resume(_ position: Position?, _ stream: StreamState) async -> Position {
      if let position, position.created == stream.created, position.last <= stream.last {
        await board.rejectClaims(after: stream.last)
        return position
      }
      var start = stream.last
      if let position {
        logger.error("the stream is not the one of before: ids begin again")
        publications.forget()
        // All that is in a new stream is new. One that has lost its end has nothing new.
        if position.created != stream.created { start = 0 }
      }
      await board.begin(after: start)
      return Position(created: stream.created, last: start)
    }

    /// There is nothing between the messages of these numbers any more.
    private func skip(from last: EventID, to next: EventID) async {
      logger.error("events \(last + 1) to \(next - 1) have left the stream")
      await board.skip(through: next - 1)
    }
  }
#endif
