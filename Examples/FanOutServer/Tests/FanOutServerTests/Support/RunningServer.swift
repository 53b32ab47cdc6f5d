import AsyncHTTPClient
import FanOutCore
import FanOutTLS
import Logging
import Multicast
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Testing

/// A server on a free loopback port, and a client for it.
struct RunningServer: Sendable {
  let port: Int
  let client: HTTPClient
  private let group: ServiceGroup
  /// `nil` without TLS.
  private let certificate: TestCertificate?

  /// How clients connect.
  enum Transport: CaseIterable {
    case http1
    case http1WithTLS
    case http2
  }

  /// Runs `body` with a server, and shuts it down afterwards.
  static func with<Result: Sendable>(
    _ settings: Settings = Settings(), over transport: Transport = .http1,
    makeLog: (@Sendable (Topics) -> any EventLog)? = nil,
    _ body: @escaping @Sendable (RunningServer) async throws -> Result
  ) async throws -> Result {
    var settings = settings
    settings.port = 0
    settings.logger.logLevel = .critical
    // On a busy machine the next step of a test may come later than after the usual minute, and a
    // request of a client without a place later than after two seconds.
    if settings.idleTimeout == Settings().idleTimeout { settings.idleTimeout = .hours(1) }
    if settings.patience == Settings().patience { settings.patience = .minutes(5) }
    // Not the hubs of other tests.
    if settings.hubs === HubDirectory.shared { settings.hubs = HubDirectory() }
    let certificate = transport == .http1 ? nil : TestCertificate.first
    settings.security = try certificate.map { TLSCertificate(try $0.value) }
    let (addresses, continuation) = AsyncStream<SocketAddress>.makeStream()
    let service = FanOutService(
      settings, makeLog: makeLog, whenListening: { continuation.yield($0) })
    let group = ServiceGroup(services: [service], logger: settings.logger)
    var configuration = HTTPClient.Configuration(timeout: .init(connect: .minutes(4)))
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
    if let certificate {
      configuration.tlsConfiguration = try certificate.clientConfiguration
      configuration.httpVersion = transport == .http2 ? .automatic : .http1Only
    }
    let client = HTTPClient(
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    let run = Task { try await group.run() }
    var iterator = addresses.makeAsyncIterator()
    let port = try #require(await iterator.next()?.port)
    let result: Swift.Result<Result, any Error>
    do {
      let server = RunningServer(
        port: port, client: client, group: group, certificate: certificate)
      result = .success(try await body(server))
    } catch {
      result = .failure(error)
    }
    await group.triggerGracefulShutdown()
    try await run.value
    try await client.shutdown()
    return try result.get()
  }

  /// Connects to a server with TLS.
  func connectHTTP2(window: Int = 65_535) async throws -> HTTP2Client {
    try await .connect(port: port, #require(certificate), window: window)
  }

  /// Starts a graceful shutdown, like SIGTERM.
  func shutDown() async {
    await group.triggerGracefulShutdown()
  }
}

// MARK: - Requests

extension RunningServer {
  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: String

    subscript(header: String) -> String? { headers[header] }
  }

  func request(
    _ method: String, _ path: String, _ headers: [(String, String)] = [],
    body: HTTPClientRequest.Body? = nil
  ) async throws -> Answer {
    let response = try await execute(method, path, headers, body: body)
    let bytes = try await response.body.collect(upTo: 64 << 20)
    let fields = response.headers.map { ($0.name.lowercased(), $0.value) }
    return Answer(
      status: Int(response.status.code),
      headers: Dictionary(fields, uniquingKeysWith: { $0 + "|" + $1 }),
      body: String(buffer: bytes))
  }

  func publish(_ text: String, to topic: String = "news") async throws -> Answer {
    try await request("POST", "/topics/\(topic)", body: .bytes(ByteBuffer(string: text)))
  }

  /// Publishes, and requires success.
  ///
  /// - Returns: the id of the event.
  @discardableResult
  func published(_ text: String, to topic: String = "news") async throws -> UInt64 {
    let answer = try await publish(text, to: topic)
    try #require(answer.status == 200, "\(answer.body)")
    return try #require(UInt64(answer.body.drop { !$0.isNumber }.prefix { $0.isNumber }))
  }

  /// Opens a stream, and requires success.
  func stream(
    _ topic: String = "news", query: String = "", headers: [(String, String)] = []
  ) async throws -> EventReader {
    let response = try await execute("GET", "/topics/\(topic)/events\(query)", headers)
    try #require(response.status == .ok)
    try #require(
      response.headers["content-type"] == ["text/event-stream; charset=utf-8"])
    return EventReader(response.body)
  }

  /// Opens a stream of several topics, and requires success.
  func events(
    _ query: String, headers: [(String, String)] = []
  ) async throws -> EventReader {
    let response = try await execute("GET", "/events?\(query)", headers)
    try #require(response.status == .ok)
    try #require(
      response.headers["content-type"] == ["text/event-stream; charset=utf-8"])
    return EventReader(response.body)
  }

  /// Publishes events as JSON.
  func publish(
    batch: String, _ type: String = "application/x-ndjson", _ headers: [(String, String)] = []
  ) async throws -> Answer {
    try await request(
      "POST", "/events", [("Content-Type", type)] + headers,
      body: .bytes(ByteBuffer(string: batch)))
  }

  /// The value of one metric.
  func metric(_ name: String) async throws -> Int {
    let text = try await request("GET", "/metrics").body
    let line = text.split(separator: "\n").first { $0.hasPrefix("fanout_\(name) ") }
    return try #require(line.flatMap { Int($0.split(separator: " ")[1]) })
  }

  /// Polls a metric until it is `value`. The time limit of the suite ends it.
  func wait(until name: String, is value: Int) async throws {
    while try await metric(name) != value { try Task.checkCancellation() }
  }

  private func execute(
    _ method: String, _ path: String, _ headers: [(String, String)] = [],
    body: HTTPClientRequest.Body? = nil
  ) async throws -> HTTPClientResponse {
    let origin = certificate == nil ? "http://127.0.0.1" : "https://localhost"
    var request = HTTPClientRequest(url: "\(origin):\(port)\(path)")
    request.method = .init(rawValue: method)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.body = body
    return try await client.execute(request, deadline: .now() + .minutes(4))
  }
}
