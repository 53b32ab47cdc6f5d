import Foundation
import NIOCore
import Testing

/// A connection whose first request asks for a stream becomes that stream: it has no task and no HTTP
/// handlers. The promises are the same as for a stream on a connection that had other requests before.
@Suite(.timeLimit(.minutes(5))) struct FirstRequestTests {
  private static let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
  private static let stream = """
    GET /topics/news/events HTTP/1.1\r
    Host: localhost\r
    Origin: http://localhost\r\n\r\n
    """

  /// The status line and the names of the header fields of the last response.
  private static func head(_ text: String) -> [Substring] {
    let response = text.components(separatedBy: "HTTP/1.1 ").last ?? ""
    let head = response.components(separatedBy: "\r\n\r\n")[0]
    return head.split(separator: "\r\n").map { $0.prefix { $0 != ":" } }.sorted()
  }

  @Test func theHeadIsThatOfAStreamOnAnOlderConnection() async throws {
    try await RunningServer.with { server in
      let new = try await RawClient.connect(port: server.port)
      try await new.send(Self.stream)
      let head = Self.head(try await new.read(until: "retry:"))
      let old = try await RawClient.connect(port: server.port)
      try await old.send(Self.health)
      _ = try await old.read(until: "connected")
      try await old.send(Self.stream)
      #expect(head == Self.head(try await old.read(until: "retry:")))
      #expect(head.contains { $0.lowercased() == "date" }, "\(head)")
      // Both get the same events.
      try await server.published("hello", to: "news")
      for client in [new, old] { _ = try await client.read(until: "data: hello") }
      for client in [new, old] { await client.close() }
      try await server.wait(until: "streams", is: 0)
    }
  }

  @Test func aRefusedStreamLeavesTheConnectionToFurtherRequests() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET /topics/a..b/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let refusal = try await client.read(until: "}")
      #expect(refusal.hasPrefix("HTTP/1.1 400 "), "\(refusal)")
      try await client.send(Self.health)
      #expect(try await client.read(until: "connected").contains("HTTP/1.1 200 "))
      try await client.send(Self.stream)
      _ = try await client.read(until: "retry:")
      await client.close()
      try await server.wait(until: "streams", is: 0)
    }
  }

  /// A response would be inside of the stream.
  @Test func aClientThatSendsMoreBehindItsRequestIsClosed() async throws {
    try await RunningServer.with { server in
      for rest in [Self.health, "GET /hea", Self.stream] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(Self.stream + rest)
        // The beginning of a request may have come with the one before. Then more ends the stream.
        if rest == "GET /hea" {
          _ = try await client.read(until: "retry:")
          try? await client.send("lth")
        }
        let text = try await client.readAll()
        #expect(text.components(separatedBy: "HTTP/1.1 ").count <= 2, "\(text)")
        #expect(!text.contains("connected"), "\(text)")
      }
      try await server.wait(until: "streams", is: 0)
    }
  }

  @Test func aClientThatClosesItsSideAtOnceIsClosed() async throws {
    try await RunningServer.with { server in
      for _ in 0..<20 {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(Self.stream)
        await client.finish()
        _ = try await client.readAll()
      }
      try await server.wait(until: "streams", is: 0)
      try await server.wait(until: "topics", is: 0)
    }
  }

  @Test func aRequestWithABodyIsAnswered() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send(
        "GET /topics/news/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
      try await client.send("ab")
      _ = try await client.read(until: "retry:")
      await client.close()
      try await server.wait(until: "streams", is: 0)
    }
  }

  #if os(Linux)
    /// Measured: 9 KB.
    @Test func anIdleStreamTakesAtMostTwelveKilobytes() async throws {
      let server = try ServerProcess(["--port", "0", "--log-level", "critical"])
      let port = try server.port()
      let count = 1000
      func open() async throws -> RawClient {
        let client = try await RawClient.connect(port: port)
        try await client.send(Self.stream)
        _ = try await client.read(until: "retry:")
        return client
      }
      // The memory that the first streams take stays.
      for _ in 0..<20 { await try open().close() }
      let before = try server.residentBytes()
      var clients: [RawClient] = []
      for _ in 0..<count { clients.append(try await open()) }
      let bytes = try (server.residentBytes() - before) / count
      #expect(bytes <= 12 << 10)
      for client in clients { await client.close() }
      server.terminate()
      #expect(try server.wait().errors.isEmpty)
    }
  #endif
}
