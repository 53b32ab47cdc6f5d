/// What stands between publishing an event and delivering it.
///
///     POST ──▶ EventLog.publish ─ ─ id ─ ─▶ Board.deliver ──▶ history, subscribers
///
/// ``LocalLog`` has no distance to cover: the ``Board`` gives the event the next id and delivers it
/// in one step. A log that relays through a broker, so that many servers share their topics, does
/// this instead:
///
/// - ``publish(_:to:)`` hands the message to the broker, waits until the broker has stored it, and
///   answers with the broker's sequence number. That is the acknowledgement: from then on the event
///   must not get lost. It does not deliver.
/// - ``run()`` connects, calls ``Board/begin(after:)`` with the sequence number that the broker is
///   at, and then calls ``Board/deliver(_:)`` for each event that the broker hands back, the
///   server's own among them, in the order of their ids. After a reconnection it goes on after the
///   last one it delivered, and says so with ``Board/rejectClaims(after:)``; the board ignores an event
///   that it has had. If some are gone meanwhile, it calls ``Board/skip(through:)``. It returns when
///   the service is to shut down (`gracefulShutdown()` of swift-service-lifecycle), after the HTTP
///   server has.
/// - ``drain(within:)``, before that, sees to it that what was acknowledged is delivered.
/// - ``page(of:after:through:)`` fetches from the broker what this server has not kept.
/// - ``status`` goes to `/health` and the metrics. A log that has lost its broker keeps the server
///   up: those who publish are told 503, streams stay open.
public protocol EventLog: Sendable {
  /// Takes an event in for good.
  ///
  /// - Throws: ``Unavailable`` if it cannot; then the event was not taken in, or nobody knows.
  func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt

  /// The first events of `topic` with ids above `id`, up to `last`; `nil` if not all of them can be
  /// had.
  func page(of topic: Topic, after id: EventID, through last: EventID) async -> Page?

  /// Waits a moment for an event that a client says it has, if this server has not delivered it yet.
  func arrival(of id: EventID) async -> Arrival

  /// Does what has to be done while the server runs.
  func run() async throws

  /// The server is shutting down: takes nothing in any more, and waits, but no longer than `limit`,
  /// until the board has delivered everything that was acknowledged.
  func drain(within limit: Duration) async

  var status: LogStatus { get async }
}

extension EventLog {
  public func page(of topic: Topic, after id: EventID, through last: EventID) async -> Page? {
    nil
  }

  /// There is no other server that a client can have an event from.
  public func arrival(of id: EventID) async -> Arrival { .notExpected }

  /// The board delivers at once what it takes in.
  public func drain(within limit: Duration) async {}
}

/// Some of the events that a client has missed.
public struct Page: Sendable {
  /// In order.
  public var events: [Event]
  /// Up to this id, these are all.
  public var through: EventID

  public init(_ events: [Event], through: EventID) {
    self.events = events
    self.through = through
  }
}

/// Whether an event that a client says it has is still to be delivered by this server.
public enum Arrival: Sendable {
  case notExpected
  case expected
  /// Nobody can know now: the client is believed until ``Board/rejectClaims(after:)`` says more.
  case unknown
}

/// That an event was taken in.
public struct Receipt: Sendable, Hashable {
  public var id: EventID
  /// How many subscribers of this server have the event in their buffer, or will.
  public var subscribers: Int

  public init(id: EventID, subscribers: Int) {
    self.id = id
    self.subscribers = subscribers
  }
}

/// That events cannot be taken in now. The reason goes to the client.
public struct Unavailable: Error, Sendable {
  public var reason: String
  /// Whether it is the event itself that is too long, so that trying again is of no use.
  public var isTooLong: Bool

  public init(_ reason: String, isTooLong: Bool = false) {
    self.reason = reason
    self.isTooLong = isTooLong
  }
}

/// How a log is doing.
public struct LogStatus: Sendable, Hashable {
  /// As `/health` names it: "local", or the kind of broker.
  public var kind: String
  /// Whether events can be taken in.
  public var isConnected: Bool

  public init(kind: String, isConnected: Bool) {
    self.kind = kind
    self.isConnected = isConnected
  }
}
