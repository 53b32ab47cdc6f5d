import FanOutCore
import NIOCore
import Testing

/// Requests and streams of HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct HTTP2Tests {
  /// A server with an address limit for one connection and `streams` of its streams.
  private func settings(perAddress streams: Int? = nil) -> Settings {
    var settings = Settings()
    // Longer than a client waits for its turn on a loaded machine.
    settings.patience = .minutes(5)
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
    Head("501", ":method CONNECT\n:authority localhost:80"),
  ])
  func aRequestNamesItsHostAndPath(_ head: Head) async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await server.connectHTTP2()
      let answer = try await client.request(head.fields).readAll()
      #expect(answer.hasPrefix(":status: \(head.status)\n"), "\(answer)")
      #expect(answer.contains("x-content-type-options: nosniff\n"))
      // The connection takes further requests.
      #expect(try await client.get("/health").readAll().hasPrefix(":status: 200\n"))
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

/// Places for connections and for requests of HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct HTTP2PlaceTests {
  private var settings: Settings {
    var settings = Settings()
    // Longer than a client waits for its turn on a loaded machine.
    settings.patience = .minutes(5)
    return settings
  }

  private func stream(_ client: HTTP2Client) async throws -> RawClient {
    let stream = try await client.get("/topics/news/events")
    #expect(try await stream.read(until: "retry:").contains("retry:"))
    return stream
  }

  @Test func streamsTakePlacesAsConnectionsDo() async throws {
    var settings = settings
    settings.maxConnections = 5
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2()
      var streams: [RawClient] = []
      for _ in 0..<4 { streams.append(try await stream(client)) }
      let refused = try await client.get("/topics/news/events").readAll()
      #expect(refused.hasPrefix(":status: 503\n"))
      #expect(refused.contains("retry-after: 1\n"))
      #expect(try await client.get("/health").readAll().hasPrefix(":status: 200\n"))
      // Nor has another connection a place, which ends so that the client gets one with the next.
      for (path, status) in [("/metrics", 200), ("/topics", 503)] {
        let other = try await server.connectHTTP2()
        #expect(try await other.get(path).readAll().hasPrefix(":status: \(status)\n"))
        try await other.waitForEnd()
      }
      await streams[0].close()
      while try await !client.get("/topics").readAll().hasPrefix(":status: 200\n") {
        try Task.checkCancellation()
      }
    }
  }

  @Test func anAddressHasAtMostAsManyAsItMay() async throws {
    var settings = settings
    settings.maxConnectionsPerAddress = 2
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2()
      let stream = try await stream(client)
      #expect(try await client.get("/health").readAll().hasPrefix(":status: 429\n"))
      let other = try await server.connectHTTP2()
      #expect(try await other.get("/health").readAll().hasPrefix(":status: 429\n"))
      try await other.waitForEnd()
      await stream.close()
    }
  }

  @Test func aConnectionWithoutAPlaceIsClosedSoon() async throws {
    var settings = settings
    settings.maxConnections = 1
    settings.patience = .milliseconds(200)
    settings.idleTimeout = .hours(24)
    try await RunningServer.with(settings, over: .http2) { server in
      let first = try await server.connectHTTP2()
      // It has the place. Its request has none.
      #expect(try await first.get("/health").readAll().hasPrefix(":status: 200\n"))
      let second = try await server.connectHTTP2()
      try await second.waitForEnd()
      await first.close()
    }
  }

  @Test func placesAreGivenBack() async throws {
    var settings = settings
    // Two streams and their connection, those of the last round, and the connection for metrics.
    settings.maxConnections = 8
    try await RunningServer.with(settings, over: .http2) { server in
      for _ in 0..<50 {
        let client = try await server.connectHTTP2()
        let streams = [try await stream(client), try await stream(client)]
        for stream in streams { await stream.close() }
        try await server.wait(until: "streams", is: 0)
        await client.close()
      }
    }
  }
}

/// Clients of HTTP/2 that do not behave.
@Suite(.timeLimit(.minutes(5))) struct HostileHTTP2Tests {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private static let settingsFrame: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
  private static let pingFrame: [UInt8] =
    [0, 0, 8, 6, 0, 0, 0, 0, 0] + Array(repeating: 1, count: 8)

  private func settings(idle: TimeAmount = .hours(24)) -> Settings {
    var settings = Settings()
    settings.idleTimeout = idle
    return settings
  }

  @Test(arguments: [
    Array(repeating: UInt8(ascii: "x"), count: 100),
    preface + settingsFrame + Array(repeating: 0xff, count: 100),
    preface + settingsFrame + Array(repeatElement(pingFrame, count: 300).joined()),
    preface + Array(repeatElement(settingsFrame, count: 300).joined()),
    preface + settingsFrame + [0, 0, 4, 3, 0, 0, 0, 0, 7, 0, 0, 0, 0],
  ])
  func aConnectionWithAnErrorIsClosed(_ bytes: [UInt8]) async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await RawClient.connect(port: server.port, .first, ["h2"])
      try? await client.send(bytes)
      _ = try await client.readAll()
    }
  }

  @Test func aConnectionThatEndsIsClosedAfterAnErrorToo() async throws {
    var settings = settings()
    settings.drain = .hours(1)
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2()
      // A request that does not end keeps the connection.
      let request = try await client.request(
        HTTP2Client.head("POST", "/topics/a") + [("expect", "100-continue")], hasBody: true)
      _ = try await request.read(until: ":status: 100\n")
      await server.shutDown()
      try await client.waitForLastStreams()
      // The continuation of no header fields.
      try? await client.send([0, 0, 1, 9, 4, 0, 0, 0, 1, 0])
      try await client.waitForEnd()
    }
  }

  /// The body of such a request is read by Hummingbird, which takes the end of its channel for that of the
  /// body.
  @Test(arguments: [false, true])
  func aRequestThatIsCutOffIsNotPublished(_ withConnection: Bool) async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      var stream = try await server.stream("a")
      for _ in 0..<50 {
        let client = try await server.connectHTTP2()
        let request = try await client.request(
          HTTP2Client.head("POST", "/topics/a") + [("expect", "100-continue")], hasBody: true)
        _ = try await request.read(until: ":status: 100\n")
        try await request.send("half")
        if withConnection { await client.close() } else { await request.close() }
        await client.close()
      }
      try await server.published("whole", to: "a")
      #expect(try await stream.data(1) == ["whole"])
      #expect(try await server.metric("published_total") == 1)
    }
  }

  @Test(arguments: ["https", "http"])
  func aResponseThatTheClientDoesNotTakeTimesOut(_ scheme: String) async throws {
    try await RunningServer.with(settings(idle: .seconds(1)), over: .http2) { server in
      let client = try await server.connectHTTP2(window: 0)
      // The server answers one of them, and refuses the other.
      let fields = HTTP2Client.head("GET", "/openapi.json").map { name, value in
        (name, name == ":scheme" ? scheme : value)
      }
      // On a loaded machine the handshake may take longer than the limit.
      for _ in 0..<3 { _ = try? await client.request(fields) }
      try await client.waitForEnd()
    }
  }

  @Test func aClientThatDoesNotEvenReadItsConnectionIsDisconnected() async throws {
    var settings = settings()
    settings.bufferLimit = 4
    settings.heartbeat = .milliseconds(100)
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2(window: 1 << 30)
      let stalled = try await client.get("/topics/busy/events?policy=disconnect")
      _ = try await stalled.read(until: "retry:")
      try await client.stopReading()
      let text = String(repeating: "x", count: 60_000)
      while try await server.metric("dropped_total") == 0 {
        try await server.published(text, to: "busy")
        if try await server.metric("streams") == 0 { break }
      }
      try await server.wait(until: "streams", is: 0)
      await client.close()
    }
  }
}
