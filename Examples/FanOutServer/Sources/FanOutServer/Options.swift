internal import ArgumentParser
internal import FanOutCore
internal import Logging
internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The options of the server, and their conversion to settings.
struct Options: ParsableArguments {
  @Option(help: "File with options: a JSON object such as {\"port\": 8080}.") var config: String?
  @Option(help: "Address to listen on.") var host = "127.0.0.1"
  @Option(help: "Port to listen on; 0 chooses a free port.") var port = 8080
  @Option(help: "Path of a Unix socket to listen on, instead of a host and a port.")
  var unixSocket: String?
  @Option(help: "Permissions of the Unix socket: three octal digits.") var unixSocketMode = "660"
  @Option(help: "Events kept per topic for clients that reconnect.") var history = 128
  @Option(help: "Bytes of memory for the kept events of all topics.")
  var historyBytes = 64 << 20
  @Option(help: "Events that may wait for one subscriber.") var buffer = 256
  @Option(help: "Maximum size of an event in bytes.") var maxEventBytes = 64 << 10
  @Option(help: "Maximum length of a topic name.") var maxTopicLength = 128
  @Option(help: "Maximum number of topics and patterns of one stream.") var maxStreamTopics = 64
  @Option(help: "Maximum number of events of one batch.") var maxBatchEvents = 128
  @Option(help: "Maximum size of a batch in bytes.") var maxBatchBytes = 1 << 20
  @Option(help: "Ids of publishers that the server remembers, to recognise repeated events.")
  var rememberedIds = 65_536
  @Option(
    help: """
      Maximum number of connections, and of requests and streams of HTTP/2. (default: 20000, or fewer \
      if the system allows fewer)
      """)
  var maxConnections: Int?
  @Option(
    help: """
      Maximum number of connections, and of requests and streams of HTTP/2, of one address, or of one \
      IPv6 network. (default: no limit)
      """)
  var maxConnectionsPerAddress: Int?
  @Option(
    help: """
      Maximum number of streams of the clients of one address, or of one IPv6 network. (default: no limit)
      """)
  var maxStreamsPerAddress: Int?
  @Option(
    help: """
      Addresses and networks of proxies, such as 10.0.0.0/8, separated by commas, whose X-Forwarded-For \
      counts; 'unix:' for those on the Unix socket.
      """)
  var trustedProxies: [String] = []
  @Option(
    help: """
      Maximum number of streams of one token, or of all JSON web tokens with the same 'sub'. (default: no \
      limit)
      """)
  var maxStreamsPerToken: Int?
  @Option(
    help: """
      Number of threads that serve connections. With fewer, a delivery takes less processor time, and an \
      event reaches the last of many streams later. (default: one for each processor)
      """)
  var eventLoops: Int?
  @Option(help: "Seconds between heartbeats on an idle stream.") var heartbeat = 15.0
  @Option(
    help: "Least milliseconds between two writes to a stream: a longer pause saves processor time.")
  var pause = 0
  @Option(help: "Milliseconds that clients should wait before they reconnect.") var retry = 2000
  @Option(help: "Seconds that a client may take to send a request or to read a response.")
  var idle = 60.0
  @Option(help: "Seconds that a shutdown waits for clients to read their events.") var drain = 5.0
  @Option(help: "File with the tokens for publishing, one per line. SIGHUP reads it again.")
  var publishTokenFile: String?
  @Option(help: "File with the tokens for subscribing, one per line. SIGHUP reads it again.")
  var subscribeTokenFile: String?
  @Option(
    help: """
      File with the keys of JSON web tokens: a JWKS, a public key in PEM (ES256), or a secret \
      (HS256). SIGHUP reads it again.
      """)
  var jwtKeyFile: String?
  @Flag(
    inversion: .prefixedNo, help: "Allow a public address, and any host name, without tokens.")
  var allowAnonymous = false
  @Option(help: "Origin whose pages may use the server, such as https://example.org; repeatable.")
  var allowOrigin: [String] = []
  @Option(
    help: "Lowest level of log messages: trace, debug, info, notice, warning, error, critical.")
  var logLevel = "warning"
  @Option(help: "Format of log messages: text or json.") var logFormat = LogFormat.text
  @Option(help: "Log of all requests: combined, as nginx has it, or json. (default: none)")
  var accessLog: AccessLogFormat?
  @Option(help: "File to which the access log is appended. (default: standard output)")
  var accessLogFile: String?
}

extension Options {
  func validate() throws {
    try Self.require("--port", port, in: 0...65535)
    try Self.require("--history", history, in: 0...1_000_000)
    try Self.require("--history-bytes", historyBytes, in: 0...(1 << 40))
    try Self.require("--buffer", buffer, in: 1...1_000_000)
    try Self.require("--max-event-bytes", maxEventBytes, in: 1...(64 << 20))
    try Self.require("--max-topic-length", maxTopicLength, in: 1...1024)
    try Self.require("--max-stream-topics", maxStreamTopics, in: 1...1000)
    try Self.require("--max-batch-events", maxBatchEvents, in: 1...100_000)
    try Self.require("--max-batch-bytes", maxBatchBytes, in: 1...(256 << 20))
    try Self.require("--remembered-ids", rememberedIds, in: 0...10_000_000)
    try Self.require("--max-connections", maxConnections ?? 1, in: 1...1_000_000)
    try Self.require(
      "--max-connections-per-address", maxConnectionsPerAddress ?? 1, in: 1...1_000_000)
    try Self.require("--max-streams-per-address", maxStreamsPerAddress ?? 1, in: 1...1_000_000)
    try Self.require("--max-streams-per-token", maxStreamsPerToken ?? 1, in: 1...1_000_000)
    try Self.require("--event-loops", eventLoops ?? 1, in: 1...256)
    try Self.require("--heartbeat", heartbeat, in: 0.1...3600)
    try Self.require("--pause", pause, in: 0...10_000)
    try Self.require("--retry", retry, in: 0...3_600_000)
    try Self.require("--idle", idle, in: 0.1...86_400)
    try Self.require("--drain", drain, in: 0...3600)
    for origin in allowOrigin where !Self.isOrigin(origin) {
      throw ValidationError(
        "--allow-origin: '\(origin)' is not an origin such as https://example.org")
    }
    _ = try proxies()
    guard Logger.Level(rawValue: logLevel) != nil else {
      throw ValidationError("--log-level: '\(logLevel)' is not a level such as debug or warning")
    }
    if let unixSocket { try ListeningPlace.requireUsable(unixSocket) }
    guard unixSocketMode.utf8.count == 3, unixSocketMode.allSatisfy({ "0"..."7" ~= $0 }) else {
      throw ValidationError("--unix-socket-mode: '\(unixSocketMode)' is not three octal digits")
    }
    guard maxStreamsPerToken == nil || subscribeTokenFile != nil || jwtKeyFile != nil else {
      throw ValidationError(
        "--max-streams-per-token: there is no --subscribe-token-file and no --jwt-key-file")
    }
    guard accessLogFile == nil || accessLog != nil else {
      throw ValidationError("--access-log-file: there is no --access-log")
    }
    guard ListeningPlace.host(host) != nil else {
      throw ValidationError(
        "--host: '\(host)' is neither an address such as 127.0.0.1 or ::1 nor a name; the port is "
          + "that of --port")
    }
    guard
      unixSocket != nil || Loopback.contains(host) || allowAnonymous
        || publishTokenFile != nil && subscribeTokenFile != nil || jwtKeyFile != nil
    else {
      throw ValidationError(
        "--host \(host) is not a loopback address: use --publish-token-file and "
          + "--subscribe-token-file, or --jwt-key-file, or --allow-anonymous")
    }
  }

  /// The host without the brackets of an IPv6 address.
  var address: String { ListeningPlace.host(host) ?? host }

  func settings() async throws -> Settings {
    var settings = Settings()
    settings.host = address
    settings.port = port
    settings.unixSocket = unixSocket
    settings.historyEvents = history
    settings.historyBytes = historyBytes
    settings.bufferLimit = buffer
    settings.maxEventBytes = maxEventBytes
    settings.maxTopicLength = maxTopicLength
    settings.maxStreamTopics = maxStreamTopics
    settings.maxBatchEvents = maxBatchEvents
    settings.maxBatchBytes = maxBatchBytes
    settings.rememberedKeys = rememberedIds
    settings.maxConnections = try OpenFileLimit.connections(
      maxConnections, eventLoops: eventLoops ?? System.coreCount)
    settings.maxConnectionsPerAddress = maxConnectionsPerAddress
    settings.maxStreamsPerAddress = maxStreamsPerAddress
    settings.trustedProxies = try proxies()
    settings.maxStreamsPerToken = maxStreamsPerToken
    if let eventLoops {
      settings.eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: eventLoops)
    }
    settings.heartbeat = .seconds(heartbeat)
    settings.pause = .milliseconds(Int64(pause))
    settings.retry = .milliseconds(Int64(retry))
    settings.idleTimeout = .seconds(idle)
    settings.drain = .seconds(drain)
    settings.tokens.replace(with: try await tokens())
    settings.allowedOrigins = Set(allowOrigin.map(Self.origin))
    settings.isLoopbackOnly =
      (unixSocket != nil || Loopback.contains(host)) && !allowAnonymous
    settings.logger.logLevel = Logger.Level(rawValue: logLevel) ?? .warning
    if let accessLog = accessLog.flatMap({ AccessLog.Format(rawValue: $0.rawValue) }) {
      settings.accessLog = AccessLog(accessLog, path: accessLogFile, logger: settings.logger)
      guard settings.accessLog != nil else {
        throw ValidationError("--access-log-file: cannot open '\(accessLogFile ?? "")'")
      }
    }
    return settings
  }

  /// Sets the format of the log. Call it once, before the first logger.
  func startLogging() {
    guard logFormat == .json else { return }
    LoggingSystem.bootstrap { JSONLogHandler(label: $0) }
  }

  /// Sets the permissions of the socket.
  func share(_ path: String) {
    _ = chmod(path, mode_t(UInt32(unixSocketMode, radix: 8) ?? 0o660))
  }

  /// Reads the token files.
  func tokens() async throws -> AccessTokens.Value {
    AccessTokens.Value(
      publish: try TokenFile.read(publishTokenFile, "--publish-token-file"),
      subscribe: try TokenFile.read(subscribeTokenFile, "--subscribe-token-file"),
      jwt: try await TokenFile.readKeys(jwtKeyFile, "--jwt-key-file"))
  }

  private func proxies() throws -> TrustedProxies {
    do throws(TrustedProxies.Refusal) {
      return try TrustedProxies(trustedProxies.flatMap { $0.split(separator: ",") })
    } catch {
      throw ValidationError("--trusted-proxies: \(error)")
    }
  }

  /// The origin as browsers write it: in lower case, and without the port of its scheme.
  private static func origin(_ text: String) -> String {
    let text = text.lowercased()
    let port = text.hasPrefix("https:") ? ":443" : ":80"
    return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
  }

  /// Whether a page can have the origin: a scheme, a host, and perhaps a port.
  private static func isOrigin(_ text: String) -> Bool {
    let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty else {
      return false
    }
    // A colon inside brackets is one of the address.
    let end = parts[2].lastIndex { $0 == ":" || $0 == "]" }
    let colon = end.flatMap { parts[2][$0] == ":" ? $0 : nil }
    let port = colon.map { parts[2][$0...].dropFirst() } ?? "0"
    return ListeningPlace.host(String(parts[2][..<(colon ?? parts[2].endIndex)])) != nil
      && port.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && UInt16(port) != nil
  }

  static func require<Value: Comparable>(
    _ name: String, _ value: Value, in range: ClosedRange<Value>
  ) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(name): \(value) is not between \(range.lowerBound) and \(range.upperBound)")
    }
  }
}

extension TimeAmount {
  /// - Parameter seconds: small enough for nanoseconds in 64 bits.
  fileprivate static func seconds(_ seconds: Double) -> TimeAmount {
    .nanoseconds(Int64(seconds * 1e9))
  }
}

/// How messages of the log look.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
  case text
  case json
}

/// How lines of the access log look: the cases of `AccessLog.Format`.
enum AccessLogFormat: String, CaseIterable, ExpressibleByArgument {
  case combined
  case json
}

/// The URL of the server.
func url(of address: SocketAddress, _ scheme: String) -> String {
  if let path = address.pathname, !path.isEmpty { return "unix:\(path)" }
  let host = address.ipAddress ?? ""
  return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(address.port ?? 0)"
}
