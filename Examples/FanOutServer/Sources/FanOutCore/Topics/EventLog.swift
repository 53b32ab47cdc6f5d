public import Multicast

/// The path of an event from publishing to delivery.
///
///     POST ──▶ EventLog.publish ─ ─ id ─ ─▶ Topics.deliver ──▶ hub ──▶ streams
///
/// With ``LocalLog`` that is one step. A log that relays through a broker, so that several servers share
/// their topics, works as follows:
///
/// - ``publish(_:to:)`` sends the message to the broker, waits until the broker has stored it, and
///   returns the broker's sequence number. That is the acknowledgement: from then on the event must
///   be delivered. This function does not deliver it.
/// - ``run()`` connects, calls ``Topics/begin(after:)`` with the broker's last sequence number, and then
///   ``Topics/deliver(_:)`` for each event from the broker, including the server's own, in the order
///   of ids. After a reconnection it continues after the last event that it delivered, and calls
///   ``Topics/rejectClaims(after:)``. If the broker has removed events in the meantime, it calls
///   ``Topics/skip(through:)``. It returns when the service shuts down (`gracefulShutdown()` of
///   swift-service-lifecycle), after the HTTP server.
/// - ``drain(within:)`` runs before that, and waits until acknowledged events are delivered.
/// - As an `ExternalLog` it gives events that this server has not kept.
/// - ``status`` is part of `/health` and the metrics. Without its broker a server keeps its streams
///   open, and answers publications with 503.
public protocol EventLog: ExternalLog where Event == FanOutCore.Event {
  /// Stores an event, so that it will be delivered.
  ///
  /// - Throws: ``Unavailable`` if it is not stored, or if that is unknown.
  func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt

  /// Runs until the server has shut down.
  func run() async throws

  /// Refuses further events, because the server shuts down, and waits until the server has delivered
  /// all acknowledged ones, at most for `limit`.
  func drain(within limit: Duration) async

  var status: LogStatus { get async }
}

extension EventLog {
  public func page(
    of topics: [String], after position: EventPosition, through last: EventID
  ) async -> ExternalPage<Event>? { nil }

  /// A client cannot have an event from another server.
  public func contains(_ position: EventPosition) async -> Bool? { false }

  /// Does nothing: the server delivers events at once.
  public func drain(within limit: Duration) async {}
}

/// The acknowledgement of an event.
public struct Receipt: Sendable, Hashable {
  public var id: EventID
  /// The number of subscribers of this server at the time of the acknowledgement.
  public var subscribers: Int

  public init(id: EventID, subscribers: Int) {
    self.id = id
    self.subscribers = subscribers
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
  /// The name in `/health`: "local", or the kind of broker.
  public var kind: String
  /// Whether events can be published.
  public var isConnected: Bool

  public init(kind: String, isConnected: Bool) {
    self.kind = kind
    self.isConnected = isConnected
  }
}
