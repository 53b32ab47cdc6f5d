public import Logging
public import NIOCore

/// What a server is told when it starts.
public struct Settings: Sendable {
  public var host = "127.0.0.1"
  /// 0 lets the system choose a free one.
  public var port = 8080
  /// How many events of a topic are kept for clients that come back.
  public var historyEvents = 128
  /// How many bytes the kept events of all topics may take.
  public var historyBytes = 64 << 20
  /// How many events may wait for one subscriber.
  public var bufferLimit = 256
  public var maxEventBytes = 64 << 10
  public var maxTopicLength = 128
  /// How many connections are served at a time. Others wait until one of them ends.
  public var maxConnections = 20_000
  /// How long the streams of an event loop collect events, after one of them has sent some, before
  /// they send again.
  public var linger = TimeAmount.milliseconds(40)
  public var heartbeat = TimeAmount.seconds(15)
  /// How long a client is told to wait before it comes back.
  public var retry = TimeAmount.seconds(2)
  /// How long a connection without a request is kept, and how long a client may take to send one or
  /// to read the answer.
  public var idleTimeout = TimeAmount.seconds(60)
  /// How long a shutdown waits for clients to take what waits for them.
  public var drain = TimeAmount.seconds(5)
  /// Who may publish; `nil` is everybody.
  public var publishTokens: Tokens?
  /// Who may subscribe and list topics; `nil` is everybody.
  public var subscribeTokens: Tokens?
  /// Whether, unless everybody needs a token, requests are refused that were sent for a name of
  /// another machine.
  public var isLoopbackOnly = false
  /// Pages of these origins may use the server, beside its own page.
  public var allowedOrigins: Set<String> = []
  public var logger = Logger(label: "fan-out-server")

  public init() {}
}
