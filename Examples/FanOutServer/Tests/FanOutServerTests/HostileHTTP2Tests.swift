import FanOutCore
import NIOCore
import Testing

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

  /// A stream that depends on itself is an error of the connection, and the next two frames are the
  /// trailers of that stream. A debug build of NIO that processed them would end the process.
  @Test func whatFollowsAnErrorIsDiscarded() async throws {
    // The fields :method POST, :scheme https, :path / and :authority a.
    let fields: [UInt8] = [0x83, 0x87, 0x84, 0x41, 0x01, 0x61]
    let head: [UInt8] = [0, 0, 11, 1, 0x24, 0, 0, 0, 1] + [0, 0, 0, 1, 0] + fields
    let trailers: [UInt8] = [0, 0, 0, 1, 0x05, 0, 0, 0, 1]
    try await RunningServer.with(settings(), over: .http2) { server in
      for _ in 0..<20 {
        let client = try await RawClient.connect(port: server.port, .first, ["h2"])
        try await client.send(Self.preface + Self.settingsFrame + head)
        // Each of them in a read of its own, unless the server is late. It may have closed.
        for _ in 0..<2 { try? await client.send(trailers) }
        _ = try await client.readAll()
      }
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

  /// The body of such a request is read by Hummingbird, which takes the end of its channel for that
  /// of the body.
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

  /// NIO passes its head on, but it is not that of a request.
  @Test func aRequestWithoutAMethodEndsOnlyItsStream() async throws {
    var settings = settings()
    settings.drain = .hours(1)
    try await RunningServer.with(settings, over: .http2) { server in
      let client = try await server.connectHTTP2()
      let request = try await client.request(HTTP2Client.head("", "/health"))
      #expect(try await request.readAll() == "")
      #expect(try await client.get("/health").readAll().hasPrefix(":status: 200\n"))
      // The shutdown does not wait for the stream.
      await server.shutDown()
      try await client.waitForEnd()
    }
  }

  /// The server keeps them too, and a client may allow it any number: one of each second.
  @Test func noFieldThatChangesIsKept() async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await server.connectHTTP2()
      for path in ["/health", "/topics/a..b"] {
        let fields = HTTP2Client.head("GET", path)
        let kept = try await client.request(fields, onlyKept: true).readAll()
        #expect(kept.contains("content-type: "), "\(kept)")
        #expect(!kept.contains("date: "), "\(kept)")
        #expect(!kept.contains("content-length: "), "\(kept)")
      }
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
