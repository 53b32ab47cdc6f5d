public import Multicast

/// The path of an event from publishing to delivery.
///
///     POST ──▶ EventLog.publish ─ ─ id ─ ─▶ Topics.deliver ──▶ hub ──▶ streams
///
/// With ``LocalLog`` that is one step. A log that relays through a broker, so that several servers
/// share their topics, works as follows:
///
/// - ``publish(_:to:)`` sends the message to the broker, waits until the broker has stored it, and
///   returns the broker's sequence number. That is the acknowledgement: from then on the event must
///   be delivered. This function does not deliver it.
/// - ``run()`` connects, calls ``Topics/begin(after:)`` with the broker's last sequence number, and
///   then ``Topics/deliver(_:)`` for each event from the broker, including the server's own, in the
///   order of ids. After a reconnection it calls ``Topics/markClaims()``, reads the broker's last
///   sequence number, calls ``Topics/rejectClaims(after:madeBefore:)`` with both, and continues
///   after the last event that it delivered. If the broker has removed events in the meantime, it
///   calls ``Topics/skip(through:)``. It returns when the service shuts down (`gracefulShutdown()`
///   of swift-service-lifecycle), after the HTTP server.
/// - ``drain(within:)`` runs before that, and waits until acknowledged events are delivered.
/// - As an `ExternalLog` it gives events that this server has not kept. While it cannot be reached,
///   it waits: with `nil`, the client would lose events that are still there.
/// - ``status`` is part of `/health` and the metrics. Without its broker a server keeps its streams
///   open, and answers publications with 503.
public protocol EventLog: AnyObject, ExternalLog where Event == FanOutCore.Event {
  /// Stores an event, so that it will be delivered.
  ///
  /// - Throws: ``Unavailable`` if it is not stored, or if that is unknown.
  func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt

  /// Stores an event as ``publish(_:to:)`` does, if the log need not wait for anything.
  ///
  /// - Returns: `nil`, and nothing was done, if it has to wait.
  /// - Throws: ``Unavailable`` if the event is not stored.
  func publishAtOnce(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt?

  /// Stores several events in this order, if possible all or none of them.
  ///
  /// - Returns: the results, in the same order. After a failure all others are failures too.
  func publish(_ publications: [Publication]) async -> [Result<Receipt, Unavailable>]

  /// Runs until the server has shut down.
  func run() async throws

  /// Refuses further events, because the server shuts down, and waits until the server has
  /// delivered all acknowledged ones, at most for `limit`.
  func drain(within limit: Duration) async

  var status: LogStatus { get async }
}

extension EventLog {
  /// A log waits for its broker or its disk.
  public func publishAtOnce(
    _ message: Message, to topic: Topic
  ) throws(Unavailable) -> Receipt? { nil }

  /// Stores one event after the other, until one fails.
  public func publish(_ publications: [Publication]) async -> [Result<Receipt, Unavailable>] {
    var results: [Result<Receipt, Unavailable>] = []
    var failure: Unavailable?
    for publication in publications where failure == nil {
      do throws(Unavailable) {
        results.append(
          .success(try await publish(publication.message, to: publication.topic)))
      } catch {
        failure = error
      }
    }
    let rest = publications.count - results.count
    if let failure { results += Array(repeating: .failure(failure), count: rest) }
    return results
  }

  public func page(
    of topics: [String], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? { nil }

  public func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? { nil }

  /// A client cannot have an event from another server.
  public func contains(_ position: EventPosition) async -> Bool? { false }

  /// Does nothing: the server delivers events at once.
  public func drain(within limit: Duration) async {}
}

/// An event that is to be published.
public struct Publication: Sendable {
  public var message: Message
  public var topic: Topic

  public init(message: Message, topic: Topic) {
    self.message = message
    self.topic = topic
  }
}

/// The acknowledgement of an event.
public struct Receipt: Sendable, Hashable {
  public var id: EventID
  /// The number of subscribers of this server at the time of the acknowledgement.
  public var subscribers: Int
  /// Whether the event was published before, with the same key.
  public var isRepeated: Bool

  public init(id: EventID, subscribers: Int, isRepeated: Bool = false) {
    self.id = id
    self.subscribers = subscribers
    self.isRepeated = isRepeated
  }
}

/// The server cannot accept an event or a subscription now. The client gets the reason.
public struct Unavailable: Error, Sendable {
  public var reason: String
  /// Whether the event is too long, so that a retry would fail too.
  public var isTooLong: Bool

  public init(_ reason: String, isTooLong: Bool = false) {
    self.reason = reason
    self.isTooLong = isTooLong
  }
}

/// The state of a log.
public struct LogStatus: Sendable, Hashable {
  /// The name in `/health`: "local", or the kind of store or broker.
  public var kind: String
  /// Whether events can be published.
  public var isConnected: Bool
  /// Why not, for `/health`: without names of topics, paths or addresses.
  public var problem: String?

  public init(kind: String, isConnected: Bool, problem: String? = nil) {
    self.kind = kind
    self.isConnected = isConnected
    self.problem = problem
  }
}
