import FanOutCore
import NIOCore
import Testing

/// Requests and streams of HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct HTTP2Tests {
  /// A server with an address limit for one connection and `streams` of its streams.
  private func settings(perAddress streams: Int? = nil) -> Settings {
    var settings = Settings()
    settings.maxConnectionsPerAddress = streams.map { 1 + $0 }
    return settings
  }

  @Test func sixtyStreamsShareOneConnection() async throws {
    // With a second connection there would be too many.
    try await RunningServer.with(settings(perAddress: 61), over: .http2) { server in
      var streams: [EventReader] = []
      for number in 0..<60 { streams.append(try await server.stream("t\(number)")) }
      for number in 0..<60 { try await server.published("\(number)", to: "t\(number)") }
      for number in 0..<60 { #expect(try await streams[number].data(1) == ["\(number)"]) }
    }
  }

  @Test func aConnectionHasAtMostAsManyStreamsAsItMay() async throws {
    var settings = settings()
    settings.maxStreamsPerConnection = 3
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2()
      // When it has read the settings of the server.
      _ = try await client.get("/health").readAll()
      var streams: [RawClient] = []
      for _ in 0..<3 {
        let stream = try await client.get("/topics/a/events")
        _ = try await stream.read(until: "retry:")
        streams.append(stream)
      }
      #expect(try await server.metric("streams") == 3)
      // The client waits until it may have another one.
      let next = try await client.get("/topics/b/events")
      #expect(try await server.metric("streams") == 3)
      await streams[0].close()
      _ = try await next.read(until: "retry:")
      #expect(try await server.metric("topics") == 2)
      #expect(try await server.metric("streams") == 3)
    }
  }

  @Test func aStalledStreamDelaysNoOtherStreamOfItsConnection() async throws {
    var settings = settings()
    settings.bufferLimit = 4
    settings.historyEvents = 0
    let text = String(repeating: "x", count: 50_000)
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2(window: 1000)
      let stalled = try await client.get("/topics/busy/events")
      let quiet = try await client.get("/topics/quiet/events")
      try await server.wait(until: "streams", is: 2)
      for _ in 0..<100 { try await server.published(text, to: "busy") }
      #expect(try await server.metric("dropped_total") >= 90)
      // What does not fit stays with the server, bounded as on a connection of its own.
      #expect(try await server.metric("pending_events") <= 8)
      try await server.published("hello", to: "quiet")
      #expect(try await quiet.read(until: "hello").contains("data: hello"))
      try await server.published("end", to: "busy")
      let events = try await stalled.read(until: "data: end\n")
      #expect(events.contains(#"{"reason":"slow","count":"#))
    }
  }

  @Test func aClientThatReadsNothingIsDisconnectedIfItWantsThat() async throws {
    var settings = settings()
    settings.bufferLimit = 4
    settings.heartbeat = .milliseconds(100)
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2(window: 1000)
      let stalled = try await client.get("/topics/busy/events?policy=disconnect")
      let quiet = try await client.get("/topics/quiet/events?policy=disconnect")
      // From now on it reads its heartbeats.
      _ = try await quiet.read(until: "retry:")
      try await server.wait(until: "streams", is: 2)
      for _ in 0..<8 {
        try await server.published(String(repeating: "x", count: 20_000), to: "busy")
      }
      try await server.wait(until: "streams", is: 1)
      // The connection and its other stream stay.
      try await server.published("hello", to: "quiet")
      #expect(try await quiet.read(until: "hello").contains("data: hello"))
      await stalled.close()
    }
  }

  @Test func aStreamEndsWithItsClient() async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await server.connectHTTP2()
      let streams = [
        try await client.get("/topics/a/events"), try await client.get("/topics/b/events"),
      ]
      for stream in streams { _ = try await stream.read(until: "retry:") }
      #expect(try await server.metric("topics") == 2)
      await streams[0].close()
      try await server.wait(until: "topics", is: 1)
      await client.close()
      try await server.wait(until: "topics", is: 0)
      try await server.wait(until: "streams", is: 0)
    }
  }

  struct Head: CustomTestStringConvertible {
    let status: String
    let fields: [(String, String)]

    /// - Parameter fields: lines.
    init(_ status: String, _ fields: String) {
      self.status = status
      self.fields = fields.split(separator: "\n").map { line in
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        return (parts[0], parts[1])
      }
    }

    var testDescription: String { "\(fields) → \(status)" }
  }

  @Test(arguments: [
    Head("400", ":method GET\n:scheme https\n:path /"),
    Head("400", ":method GET\n:scheme https\n:path /\n:authority a/b"),
    Head("421", ":method GET\n:scheme https\n:path /\n:authority localhost\nhost evil"),
    Head("200", ":method GET\n:scheme https\n:path /\n:authority localhost\nhost LOCALHOST:443"),
    Head("200", ":method GET\n:scheme https\n:path /\nhost localhost"),
    Head("421", ":method GET\n:scheme http\n:path /\n:authority localhost"),
    Head("400", ":method GET\n:scheme https\n:path *\n:authority localhost"),
    Head("204", ":method OPTIONS\n:scheme https\n:path *\n:authority localhost"),
    Head("400", ":method GET\n:scheme https\n:path /\n:authority localhost\ncontent-length +0"),
    Head("400", ":method GET\n:scheme https\n:path /\n:authority localhost\ncontent-length 0, 0"),
    Head("200", ":method GET\n:scheme https\n:path /\n:authority localhost\ncontent-length 00"),
    Head("501", ":method CONNECT\n:authority localhost:80"),
  ])
  func aRequestNamesItsHostAndPath(_ head: Head) async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await server.connectHTTP2()
      let answer = try await client.request(head.fields).readAll()
      #expect(answer.hasPrefix(":status: \(head.status)\n"), "\(answer)")
      #expect(answer.contains("x-content-type-options: nosniff\n"))
      #expect(answer.matches(of: /\ndate: [^\n]+ GMT\n/).count == 1, "\(answer)")
      // The connection takes further requests.
      #expect(try await client.get("/health").readAll().hasPrefix(":status: 200\n"))
    }
  }

  /// The client of these tests.
  @Test func aClientWithoutAServerFails() async throws {
    // No server of a test has this port.
    await #expect(throws: (any Error).self) { try await HTTP2Client.connect(port: 1, .first) }
  }

  /// Also if both are the same, as on HTTP/1.1.
  @Test func aBodyHasOneLength() async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await server.connectHTTP2()
      let request = try await client.request(
        HTTP2Client.head("POST", "/topics/a") + [("content-length", "3"), ("content-length", "3")],
        hasBody: true)
      try await request.send("abc")
      let answer = try await request.read(until: "}\n")
      #expect(answer.hasPrefix(":status: 400\n"), "\(answer)")
      #expect(answer.contains("the request has more than one Content-Length"), "\(answer)")
      // The server would wait for the end of the body.
      await client.close()
    }
  }

  @Test func theAnswerToHEADHasNoBody() async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await server.connectHTTP2()
      for (path, status) in [("/health", "200"), ("/nothing", "404"), ("*", "400")] {
        let head = try await client.request(HTTP2Client.head("HEAD", path)).readAll()
        #expect(head.hasPrefix(":status: \(status)\n"))
        #expect(head.hasSuffix("\n\n"), "\(head)")
      }
    }
  }

  @Test func aRequestThatDoesNotEndTimesOut() async throws {
    var settings = settings()
    settings.idleTimeout = .seconds(1)
    try await RunningServer.with(settings, over: .http2) { server in
      // On a loaded machine the handshake may take longer than the limit.
      let client = try? await server.connectHTTP2()
      let request = try? await client?.request(HTTP2Client.head("POST", "/topics/a"), hasBody: true)
      try? await request?.send("half")
      let answer = try await request?.readAll() ?? ""
      #expect(answer.isEmpty)
    }
  }

  @Test func aStreamEndsAtShutdownWithAllItsEvents() async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      var streams: [EventReader] = []
      for _ in 0..<20 { streams.append(try await server.stream()) }
      for number in 0..<100 { try await server.published("\(number)") }
      await server.shutDown()
      for index in streams.indices {
        #expect(try await streams[index].data(100) == (0..<100).map(String.init))
        #expect(try await streams[index].nextBlock() == EventReader.Block(retry: 2000))
        #expect(try await streams[index].nextBlock() == nil)
      }
    }
  }
}
