import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A client of a server that is a process.
struct ProcessClient: Sendable {
  let port: Int
  let client: HTTPClient
  /// Whether the paths are those of an application, `/events/TOPIC`.
  var isKit = false

  /// Runs `body` with a client, which is shut down afterwards.
  static func with(_ body: (HTTPClient) async throws -> Void) async throws {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
    let client = HTTPClient(
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    let result: Result<Void, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    try await client.shutdown()
    try result.get()
  }

  /// - Returns: the status and the body.
  func request(_ path: String, publish text: String? = nil) async throws -> (UInt, String) {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    if let text {
      request.method = .POST
      request.body = .bytes(ByteBuffer(string: text))
    }
    let response = try await client.execute(request, deadline: .now() + .minutes(4))
    return (
      response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 20))
    )
  }

  /// - Returns: the id of the event; `nil` if the server answers 503.
  func publish(_ text: String, to topic: String = "news") async throws -> UInt64? {
    let (status, body) = try await request(
      "\(isKit ? "/events" : "/topics")/\(topic)", publish: text)
    if status == 503 { return nil }
    try #require(status == 200, "\(body)")
    let id: UInt64 = try #require(UInt64(body.drop { !$0.isNumber }.prefix { $0.isNumber }))
    return id
  }

  /// Opens a stream.
  func stream(
    _ topic: String = "news", query: String = "", after id: UInt64? = nil
  ) async throws -> EventReader {
    let path = (isKit ? "/events/\(topic)" : "/topics/\(topic)/events") + query
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    if let id { request.headers.add(name: "Last-Event-ID", value: "\(id)") }
    let response = try await client.execute(request, deadline: .distantFuture)
    try #require(response.status == .ok)
    return EventReader(response.body)
  }
}
