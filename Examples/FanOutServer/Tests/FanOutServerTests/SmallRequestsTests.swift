import FanOutCore
import Foundation
import NIOCore
import NIOPosix
import Testing

/// Small requests are answered without Hummingbird's channel; a stream makes the connection a
/// stream. The promises are the same as for large requests, and those behind them.
@Suite(.timeLimit(.minutes(5))) struct SmallRequestsTests {
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

  /// Hummingbird serves what comes on the connection of this request.
  private static let large = publication(
    String(repeating: "x", count: 70_000), path: "/events", type: "application/x-ndjson")

  private static func publication(
    _ body: String, path: String = "/topics/other", type: String = "text/plain"
  ) -> String {
    "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static func statuses(_ text: String) -> [String] {
    text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
  }

  @Test func requestsThatArriveTogetherAreAnsweredInOrder() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      var reader = try await server.stream("other")
      let bodies = (0..<20).map { "event \($0)" }
      let unknown = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let last = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let publications = bodies.map { Self.publication($0) }.joined()
      try await client.send(publications + unknown + Self.large + publications + last)
      let text = try await client.readAll()
      let ok = [String](repeating: "200", count: 20)
      #expect(Self.statuses(text) == ok + ["404", "400"] + ok + ["200"], "\(text)")
      #expect(try await reader.data(40) == bodies + bodies)
    }
  }

  @Test func thousandsOfPublicationsMayArriveTogether() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      let count = 3000
      try await client.send((0..<count).map { Self.publication("\($0)") }.joined())
      await client.finish()
      let text = try await client.readAll()
      #expect(Self.statuses(text) == [String](repeating: "200", count: count))
      #expect(try await server.metric("published_total") == count)
    }
  }

  @Test(arguments: [false, true])
  func aClientThatClosesItsSideBehindARequestGetsTheResponse(_ isLarge: Bool) async throws {
    var settings = Settings()
    // A connection that the server forgets makes the test fail.
    settings.idleTimeout = .hours(1)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port)
      if isLarge { try await client.send(Self.large) }
      try await client.send(Self.publication("one") + Self.publication("two"))
      await client.finish()
      let text = try await client.readAll()
      #expect(Self.statuses(text) == (isLarge ? ["400"] : []) + ["200", "200"], "\(text)")
      #expect(try await server.metric("published_total") == 2)
    }
  }

  /// The page is larger than the buffers of the connection.
  @Test(arguments: [false, true])
  func responsesThatWaitForTheClientAreNotLost(_ isLast: Bool) async throws {
    var settings = Settings()
    settings.idleTimeout = .hours(1)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
      let page = "GET / HTTP/1.1\r\nHost: localhost\r\n"
      let last = page + (isLast ? "Connection: close\r\n\r\n" : "\r\n")
      try await client.send(String(repeating: page + "\r\n", count: 199) + last)
      await client.finish()
      let text = try await client.readAll()
      #expect(Self.statuses(text) == [String](repeating: "200", count: 200))
      #expect(text.components(separatedBy: "</html>").count == 201)
    }
  }

  @Test func aBodyMayComeInParts() async throws {
    try await RunningServer.with { server in
      var reader = try await server.stream("other")
      let client = try await RawClient.connect(port: server.port)
      for byte in Self.publication("in many parts").utf8 { try await client.send([byte]) }
      #expect(try await reader.data(1) == ["in many parts"])
      await client.close()
    }
  }

  @Test func theHeadIsThatOfAStreamOnAnOlderConnection() async throws {
    try await RunningServer.with { server in
      let new = try await RawClient.connect(port: server.port)
      try await new.send(Self.stream)
      let head = Self.head(try await new.read(until: "retry:"))
      #expect(head.contains { $0.lowercased() == "date" }, "\(head)")
      var clients = [new]
      for first in [Self.health, Self.large] {
        let old = try await RawClient.connect(port: server.port)
        try await old.send(first)
        _ = try await old.read(until: "}")
        try await old.send(Self.stream)
        #expect(head == Self.head(try await old.read(until: "retry:")))
        clients.append(old)
      }
      // All get the same events.
      try await server.published("hello", to: "news")
      for client in clients { _ = try await client.read(until: "data: hello") }
      for client in clients { await client.close() }
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
    /// 4,000 pages are 100 MB.
    @Test func aClientThatDoesNotReadResponsesIsNotRead() async throws {
      let server = try ServerProcess(["--port", "0", "--idle", "300", "--log-level", "critical"])
      let port = try server.port()
      let client = try await RawClient.connect(port: port, receiveBuffer: 4096)
      let before = try server.residentBytes()
      let page = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
      try await client.send(String(repeating: page, count: 4000))
      // Without a limit, these take less than half a second.
      for _ in 0..<20 {
        try await Task.sleep(for: .milliseconds(50))
        #expect(try server.residentBytes() - before < 20 << 20)
      }
      await client.finish()
      let text = try await client.readAll()
      #expect(Self.statuses(text).count == 4000)
      server.terminate()
      #expect(try server.wait().errors.isEmpty)
    }

    /// The decoder does not decode it, and must not keep it.
    @Test(arguments: [
      "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      "CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n",
    ])
    func whatFollowsTheLastRequestTakesNoMemory(_ request: String) async throws {
      // The client may take long on a busy machine.
      let server = try ServerProcess(["--port", "0", "--log-level", "critical", "--idle", "3600"])
      // A client that goes on when the server has closed its side.
      let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .connect(host: "127.0.0.1", port: server.port()).get()
      let before = try server.residentBytes()
      try await client.writeAndFlush(ByteBuffer(string: request))
      let rest = ByteBuffer(repeating: 0, count: 1 << 20)
      for _ in 0..<100 { try await client.writeAndFlush(rest) }
      #expect(try server.residentBytes() - before < 20 << 20)
      try await client.close()
      server.terminate()
      #expect(try server.wait().errors.isEmpty)
    }

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
      // The memory that the first streams take stays in use.
      for _ in 0..<20 { try await open().close() }
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
