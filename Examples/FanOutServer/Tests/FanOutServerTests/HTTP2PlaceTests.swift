import FanOutCore
import NIOCore
import Testing

/// Places for connections and for requests of HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct HTTP2PlaceTests {
  private func stream(_ client: HTTP2Client) async throws -> RawClient {
    let stream = try await client.get("/topics/news/events")
    #expect(try await stream.read(until: "retry:").contains("retry:"))
    return stream
  }

  @Test func streamsTakePlacesAsConnectionsDo() async throws {
    var settings = Settings()
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
    var settings = Settings()
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
    var settings = Settings()
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
    var settings = Settings()
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
