import AsyncHTTPClient
import FanOutCore
import Multicast
import NIOCore
import Testing

/// Streams end with their tokens.
@Suite(.timeLimit(.minutes(5))) struct TokenEndTests {
  private func bearer(_ token: String) -> [(String, String)] {
    [("Authorization", "Bearer \(token)")]
  }

  /// A verifier whose tokens are the milliseconds for which they are valid.
  private struct Milliseconds: TokenVerifier {
    func claims(of token: String) async -> TokenClaims? {
      guard let milliseconds = Int(token) else { return nil }
      return TokenClaims(
        publish: ["news"], subscribe: ["news"],
        timeLeft: .milliseconds(milliseconds))
    }
  }

  @Test func aStreamEndsWithItsToken() async throws {
    var settings = Settings()
    settings.tokens = AccessTokens(jwt: Milliseconds())
    try await RunningServer.with(settings) { (server) async throws -> Void in
      var long = try await server.stream(headers: bearer("3600000000"))
      for milliseconds in [0, 1, 200] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(
          "GET /topics/news/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(milliseconds)\r\n\r\n"
        )
        // Without a heartbeat: the end asks the client to come again.
        let text = try await client.readAll()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(text)")
        #expect(text.ranges(of: "retry: 2000\n").count == 2, "\(text)")
        #expect(text.hasSuffix("retry: 2000\n\n\r\n0\r\n\r\n"), "\(text)")
      }
      // The others continue.
      let answer = try await server.request(
        "POST", "/topics/news", bearer("1"), body: .bytes(ByteBuffer(string: "x")))
      #expect(answer.status == 200)
      #expect(try await long.data(1) == ["x"])
    }
  }

  @Test func aStreamThatIsNotReadEndsWithItsTokenToo() async throws {
    var settings = Settings()
    settings.tokens = AccessTokens(jwt: Milliseconds())
    settings.heartbeat = .milliseconds(200)
    settings.historyEvents = 1
    settings.bufferLimit = 4
    try await RunningServer.with(settings) { (server) async throws -> Void in
      var client: RawClient?
      var streams = 0
      // On a busy machine a stream may have ended before it is counted.
      for seconds in [10, 120] where streams == 0 {
        await client?.close()
        client = try await RawClient.openStalledStream(
          port: server.port, query: "?access_token=\(seconds * 1000)")
        let end = ContinuousClock.now + .seconds(seconds)
        while streams == 0, .now < end { streams = try await server.metric("streams") }
      }
      try #require(streams == 1)
      let text = String(repeating: "x", count: 50_000)
      for _ in 0..<150 {
        let answer = try await server.request(
          "POST", "/topics/news", bearer("3600000"), body: .bytes(ByteBuffer(string: text)))
        #expect(answer.status == 200)
      }
      // It does not read the end, so the server closes its connection.
      try await server.wait(until: "streams", is: 0)
      await client?.close()
    }
  }

  /// The client comes again with a new token.
  @Test func aStreamThatIsNotReadGivesItsPlaceBackWithItsToken() async throws {
    var settings = Settings()
    settings.tokens = AccessTokens(jwt: Milliseconds())
    settings.maxStreamsPerAddress = 1
    // Its connection stays open.
    settings.heartbeat = .hours(1)
    settings.historyEvents = 1
    settings.bufferLimit = 4
    try await RunningServer.with(settings) { (server) async throws -> Void in
      let client = try await RawClient.openStalledStream(
        port: server.port, query: "?access_token=3000")
      let text = String(repeating: "x", count: 50_000)
      for _ in 0..<150 {
        let answer = try await server.request(
          "POST", "/topics/news", bearer("3600000"), body: .bytes(ByteBuffer(string: text)))
        #expect(answer.status == 200)
      }
      var status = ""
      while !status.hasPrefix("HTTP/1.1 200") {
        try #require(status.isEmpty || status.hasPrefix("HTTP/1.1 429"), "\(status)")
        let other = try await RawClient.connect(port: server.port)
        try await other.send(
          "GET /topics/news/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer 3600000\r\n\r\n")
        status = try await other.read(until: "\r\n\r\n")
        await other.close()
      }
      await client.close()
    }
  }
}
