internal import FanOutCore
public import NIOCore
public import ServiceLifecycle
public import Tracing

/// Topics whose events an application publishes, and streams to any number of clients as
/// server-sent events that they can resume.
///
/// ```swift
/// let hub = FanOutHub()
/// router.get("/events/:topic") { request, context in
///   try hub.sse(request, topic: context.parameters.require("topic"))
/// }
/// ```
/// Each event has an id. The ids of all topics are one increasing sequence. A client that
/// reconnects with `Last-Event-ID`, as browsers do, first gets the events that it missed, as far as
/// the hub keeps them; otherwise its stream begins with the event `missed`.
///
/// The hub is in `HubDirectory.shared` under the name `fan-out`, for logs and metrics of the
/// application. Each publication is a span.
///
/// It is a service: add it to those of the application. Who may publish and subscribe is up to the
/// application, for example to a middleware.
///
/// ## Thread safety
/// Every function may be called from any thread.
public final class FanOutHub: Service {
  /// What a hub keeps, and how streams behave.
  public struct Limits: Sendable {
    /// Events kept per topic for clients that reconnect.
    public var history = 128
    /// Bytes of memory for the kept events of all topics.
    public var historyBytes = 64 << 20
    /// Events that may wait for one client; what happens then is up to its `policy=`.
    public var buffer = 256
    /// Maximum size of an event in bytes.
    public var maxEventBytes = 64 << 10
    /// Maximum length of the name of a topic.
    public var maxTopicLength = 128
    /// Ids of publishers that the hub remembers, to recognise repeated events.
    public var rememberedIDs = 65_536
    /// Time after which an idle stream gets a comment, so that a closed connection is noticed.
    public var heartbeat = Duration.seconds(15)
    /// How long clients should wait before they reconnect.
    public var retry = Duration.seconds(2)
    /// How long a shutdown of the application waits for a client to read its events.
    public var drain = Duration.seconds(5)

    /// Creates the default limits.
    public init() {}

    fileprivate func requireUsable() {
      func require(_ isUsable: Bool, _ name: String, _ value: Any, _ allowed: String) {
        precondition(isUsable, "FanOut: the limit \(name) is \(value); use \(allowed).")
      }
      require(history >= 0, "history", history, "0 or more")
      require(historyBytes >= 0, "historyBytes", historyBytes, "0 or more")
      require(buffer > 0, "buffer", buffer, "1 or more")
      require(maxEventBytes > 0, "maxEventBytes", maxEventBytes, "1 or more")
      require(maxTopicLength > 0, "maxTopicLength", maxTopicLength, "1 or more")
      require(rememberedIDs >= 0, "rememberedIDs", rememberedIDs, "0 or more")
      require(heartbeat > .zero, "heartbeat", heartbeat, "a longer time")
      require(retry > .zero, "retry", retry, "a longer time")
      require(drain >= .zero, "drain", drain, "0 seconds or more")
    }
  }

  let source: TopicSource
  let heartbeat: Duration
  let drain: Duration
  private let tracer: (any Tracer)?

  /// Creates a hub whose events are only in memory.
  ///
  /// - Parameters:
  ///   - limits: what it keeps.
  ///   - tracer: begins the spans of publications; `nil`: the current one of
  ///     `InstrumentationSystem`.
  /// - Precondition: `history`, `historyBytes`, `rememberedIDs` and `drain` are not negative, the
  ///   other limits are positive.
  public init(_ limits: Limits = Limits(), tracer: (any Tracer)? = nil) {
    limits.requireUsable()
    var settings = Settings()
    settings.historyEvents = limits.history
    settings.historyBytes = limits.historyBytes
    settings.bufferLimit = limits.buffer
    settings.maxEventBytes = limits.maxEventBytes
    settings.maxTopicLength = limits.maxTopicLength
    settings.rememberedKeys = limits.rememberedIDs
    settings.retry = TimeAmount(limits.retry)
    self.tracer = tracer
    source = TopicSource(settings)
    // Some 30 years: a sleep cannot be as long as a duration.
    heartbeat = min(limits.heartbeat, .seconds(1_000_000_000))
    drain = min(limits.drain, .seconds(1_000_000_000))
  }
}

extension FanOutHub: CustomReflectable {
  /// A mirror without children: `dump` and failed expectations of tests would read without locks
  /// what other threads change.
  public var customMirror: Mirror {
    Mirror(self, children: EmptyCollection(), ancestorRepresentation: .suppressed)
  }
}

// MARK: - Publishing

extension FanOutHub {
  /// The acknowledgement of an event.
  public struct Published: Sendable, Hashable {
    /// The id of the event: higher than those of all events before, of all topics.
    public var id: UInt64
    /// The number of clients that subscribed to the topic at the time.
    public var subscribers: Int
    /// Whether the event was published before, with the same id of its publisher.
    public var isRepeated: Bool
  }

  /// Publishes an event.
  ///
  /// - Parameters:
  ///   - text: the data of the event; its lines become those of the event.
  ///   - topic: letters, digits, `-`, `_`, `~`, and single dots inside.
  ///   - type: the type of the event, for which a page adds a listener; `nil`: the usual type.
  ///     `begin`, `missed` and `disconnected` are reserved.
  ///   - retry: how long clients that get the event wait before they reconnect: up to an hour,
  ///     rounded down to milliseconds; `nil`: as without the event.
  ///   - id: the publisher's own id of the event, with which it may publish the event again if it
  ///     does not know whether it has: 1 to 128 visible ASCII characters except `"` and `\\`. If
  ///     the topic has an event with that id, among the newest ``Limits/rememberedIDs``, nothing is
  ///     published, whatever the data. While that event is being published, this waits for the
  ///     result.
  /// - Returns: the id of the event; of a repeated one, that of the first time.
  /// - Throws: an `HTTPResponseError` with the reason: 400 for a wrong topic, type, `retry` or
  ///   `id`, 413 for a long event, 503 after ``close()``. A route can pass it on.
  /// - Complexity: O(length of the event), and O(clients of the topic) to wake them.
  @discardableResult
  public func publish(
    _ text: String, to topic: String, type: String? = nil, retry: Duration? = nil,
    id: String? = nil
  ) async throws -> Published {
    try await publish(ByteBuffer(string: text), to: topic, type: type, retry: retry, id: id)
  }

  /// Publishes an event, such as the body of a request.
  ///
  /// It does so in a span `publish` of the kind `producer` with the attributes `multicast.hub`,
  /// `multicast.topic` and `multicast.receivers`.
  ///
  /// - Parameters:
  ///   - data: the data of the event: UTF-8, otherwise the error is 400.
  ///   - topic: as in ``publish(_:to:type:retry:id:)-(String,_,_,_,_)``.
  ///   - type: as in ``publish(_:to:type:retry:id:)-(String,_,_,_,_)``.
  ///   - retry: as in ``publish(_:to:type:retry:id:)-(String,_,_,_,_)``.
  ///   - id: as in ``publish(_:to:type:retry:id:)-(String,_,_,_,_)``.
  /// - Returns: the id of the event.
  /// - Throws: as ``publish(_:to:type:retry:id:)-(String,_,_,_,_)``.
  /// - Complexity: as ``publish(_:to:type:retry:id:)-(String,_,_,_,_)``.
  @discardableResult
  public func publish(
    _ data: ByteBuffer, to topic: String, type: String? = nil, retry: Duration? = nil,
    id: String? = nil
  ) async throws -> Published {
    let tracer = tracer ?? InstrumentationSystem.tracer
    return try await tracer.withAnySpan("publish", ofKind: .producer) { span in
      span.attributes["multicast.hub"] = "fan-out"
      span.attributes["multicast.topic"] = topic
      let receipt = try await self.source.publish(
        data, to: topic, type: type, retry: retry, key: id)
      span.attributes["multicast.receivers"] = receipt.subscribers
      return Published(
        id: receipt.id, subscribers: receipt.subscribers, isRepeated: receipt.isRepeated)
    }
  }
}

// MARK: - Running

extension FanOutHub {
  /// Runs until the service group shuts down, after the server of the application, and then
  /// refuses further events and streams, as ``close()`` does.
  public func run() async throws {
    defer { close() }
    try await source.run()
  }

  /// Ends every stream after its pending events, and refuses further events and streams.
  ///
  /// A graceful shutdown of the application does this.
  public func close() { source.close() }
}
