public import Logging
public import Multicast
public import NIOCore

/// The configuration of a server.
public struct Settings: Sendable {
  public var host = "127.0.0.1"
  /// 0: the system chooses a free port.
  public var port = 8080
  /// The path of a Unix socket to listen on instead of host and port.
  public var unixSocket: String?
  /// Encrypts connections, which may then be of HTTP/2; `nil`: plain connections of HTTP/1.
  public var security: (any TransportSecurity)?
  /// The threads that serve connections; each connection belongs to one of them. `nil`: those that
  /// NIO provides, one for each processor.
  public var eventLoops: (any EventLoopGroup)?
  /// Events kept per topic for clients that reconnect.
  public var historyEvents = 128
  /// Limit of the memory of kept events, for all topics together.
  public var historyBytes = 64 << 20
  /// Events that may wait for one subscriber.
  public var bufferLimit = 256
  public var maxEventBytes = 64 << 10
  public var maxTopicLength = 128
  /// Topics and patterns of one stream.
  public var maxStreamTopics = 64
  /// Events of one batch.
  public var maxBatchEvents = 128
  /// Bytes of one batch.
  public var maxBatchBytes = 1 << 20
  /// Keys of publishers that the server remembers, so that it recognises what is published again.
  public var rememberedKeys = 65_536
  /// Connections served at the same time, and with them the requests and streams of those of
  /// HTTP/2. A few further ones get an answer to `/health` and `/metrics`, and 503 to other
  /// requests.
  public var maxConnections = 20_000
  /// The same for one address, or for one network of 64 bits in IPv6; `nil`: no limit. Further ones
  /// get 429. Connections of `trustedProxies` have no such limit.
  public var maxConnectionsPerAddress: Int?
  /// Open streams of the clients of one address, or of one network of 64 bits in IPv6; `nil`: no
  /// limit. Further ones get 429.
  public var maxStreamsPerAddress: Int?
  /// The proxies whose `X-Forwarded-For` counts.
  public var trustedProxies = TrustedProxies()
  /// Open streams of one token, or of all JSON web tokens with the same subject; `nil`: no limit.
  /// Further ones get 429.
  public var maxStreamsPerToken: Int?
  /// Requests and streams of one connection of HTTP/2 at the same time.
  public var maxStreamsPerConnection = 100
  /// Time without a write after which a stream gets a heartbeat.
  public var heartbeat = TimeAmount.seconds(15)
  /// The least time between two writes of events to a stream, so that a busy stream gets several
  /// with one system call.
  public var pause = TimeAmount.zero
  /// How long the server asks clients to wait before they reconnect.
  public var retry = TimeAmount.seconds(2)
  /// How long a connection may stay without a request, and how long a client may take to send a
  /// request or to read the response.
  public var idleTimeout = TimeAmount.seconds(60)
  /// How long a connection for which there is no place may wait for the end of its request, and
  /// stay after a refusal.
  public var patience = TimeAmount.seconds(2)
  /// How long a shutdown waits for clients to read their pending events.
  public var drain = TimeAmount.seconds(5)
  /// How long a client that has had responses must send nothing before a shutdown closes its
  /// connection, of which the server's side is closed already. Longer than input takes that is on
  /// its way: input that is not read makes the client lose responses.
  package var quietTime = TimeAmount.milliseconds(500)
  /// The tokens for publishing and subscribing. Copies of the settings share the object.
  public var tokens = AccessTokens()
  /// Whether to refuse requests whose host is not a loopback name. Without effect if publishing and
  /// subscribing both need tokens.
  public var isLoopbackOnly = false
  /// Origins whose pages may use the server, in addition to its own page.
  public var allowedOrigins: Set<String> = []
  /// The log of all requests; `nil`: none.
  public var accessLog: AccessLog?
  public var logger = Logger(label: "fan-out-server")
  /// The hubs that the server logs, counts in `/metrics`, and lists in `/hubs`. It adds its own.
  /// Copies of the settings share the object.
  public var hubs = HubDirectory.shared
  /// How often it logs and counts them. Each time takes O(streams), for 20,000 some 0.1 s of a
  /// processor.
  public var reportInterval = TimeAmount.seconds(30)

  public init() {}
}
