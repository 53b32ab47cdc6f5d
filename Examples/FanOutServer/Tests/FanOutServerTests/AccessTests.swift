import FanOutCore
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct AccessTests {
  private static let one = "publisher-0123456789"
  private static let two = "subscriber-0123456789"

  private func settings() throws -> Settings {
    var settings = Settings()
    settings.tokens = AccessTokens(
      publish: try Tokens("\(Self.one)\n"),
      subscribe: try Tokens("\n another-token-0123456 \r\n\(Self.two)"))
    settings.allowedOrigins = ["https://friend.example"]
    return settings
  }

  private func bearer(_ token: String) -> [(String, String)] {
    [("Authorization", "Bearer \(token)")]
  }

  @Test func publishingNeedsAToken() async throws {
    try await RunningServer.with(settings()) { server in
      let path = "/topics/news"
      for (headers, challenge) in [
        ([], "Bearer"),
        (bearer(Self.two), #"Bearer error="invalid_token""#),
        (bearer(Self.one + "x"), #"Bearer error="invalid_token""#),
        (bearer(String(Self.one.dropLast())), #"Bearer error="invalid_token""#),
        (bearer(Self.one + Self.one), #"Bearer error="invalid_token""#),
        ([("Authorization", Self.one)], #"Bearer error="invalid_request""#),
        ([("Authorization", "Basic \(Self.one)")], #"Bearer error="invalid_request""#),
        ([("Authorization", "Bearer")], #"Bearer error="invalid_request""#),
        (bearer(Self.one) + bearer(Self.one), #"Bearer error="invalid_request""#),
      ] {
        let answer = try await server.request("POST", path, headers)
        #expect(answer.status == 401, "\(headers)")
        #expect(answer["www-authenticate"] == challenge, "\(headers)")
      }
      #expect(try await server.metric("published_total") == 0)
      #expect(try await server.request("POST", path, bearer(Self.one)).status == 200)
      for value in ["bearer \(Self.one)", "Bearer  \(Self.one)"] {
        let header = [("authorization", value)]
        #expect(try await server.request("POST", path, header).status == 200, "\(value)")
      }
    }
  }

  @Test(arguments: ["/topics/news/events", "/topics", "/hubs"])
  func subscribingNeedsAToken(_ path: String) async throws {
    try await RunningServer.with(settings()) { server in
      #expect(try await server.request("GET", path).status == 401)
      #expect(try await server.request("GET", path, bearer(Self.one)).status == 401)
      if !path.hasSuffix("/events") {
        #expect(try await server.request("GET", path, bearer(Self.two)).status == 200)
        let other = bearer("another-token-0123456")
        #expect(try await server.request("GET", path, other).status == 200)
      } else {
        _ = try await server.stream("news", headers: bearer(Self.two))
      }
    }
  }

  @Test(arguments: ["/", "/health", "/metrics", "/client.js", "/openapi.json"])
  func publicPathsNeedNoToken(_ path: String) async throws {
    try await RunningServer.with(settings()) { server in
      let answer = try await server.request("GET", path)
      #expect(answer.status == 200)
      #expect(!answer.body.contains(Self.one))
    }
  }

  @Test(arguments: [
    ("", Tokens.Refusal.none), (" \n\n", .none), ("short", .tooShort(line: 1)),
    ("0123456789abcdef\nab cd0123456789abc", .character(line: 2)),
    ("\n0123456789abcdeä", .character(line: 2)),
  ])
  func aFileWithoutTokensIsRefused(_ text: String, _ refusal: Tokens.Refusal) {
    #expect(throws: refusal) { try Tokens(text) }
  }

  @Test func pagesOfOtherSitesAreRefused() async throws {
    try await RunningServer.with { server in
      let own = ("Origin", "http://127.0.0.1:\(server.port)")
      let answer = try await server.request("POST", "/topics/news", [own])
      #expect(answer.status == 200)
      #expect(answer["access-control-allow-origin"] == nil)
      for origin in ["https://evil.example", "null", "http://127.0.0.1", ""] {
        let refused = try await server.request("POST", "/topics/news", [("Origin", origin)])
        #expect(refused.status == 403, "\(origin)")
        #expect(refused["access-control-allow-origin"] == nil)
      }
      #expect(try await server.metric("published_total") == 1)
    }
  }

  @Test(arguments: [
    ("localhost", 200), ("LOCALHOST:8080", 200), ("127.0.0.1:1", 200), ("127.1.2.3", 200),
    ("[::1]", 200), ("[::1]:8080", 200), ("evil.example", 421),
    ("127.0.0.1.evil.example:8080", 421),
    ("localhost.evil.example", 421), ("10.0.0.1", 421), ("[::2]:80", 421), ("[::1", 400),
    (":80", 400),
  ])
  func aNameOfAnotherMachineIsRefused(_ host: String, _ status: Int) async throws {
    var settings = Settings()
    settings.isLoopbackOnly = true
    try await RunningServer.with(settings) { server in
      for origin in ["", "Origin: http://\(host)\r\n"] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(
          "POST /topics/a HTTP/1.1\r\nHost: \(host)\r\n\(origin)Content-Length: 1\r\n"
            + "Connection: close\r\n\r\nx")
        #expect(try await client.readAll().hasPrefix("HTTP/1.1 \(status) "), "\(origin)")
      }
    }
    // With tokens for both, the server may be behind a proxy.
    var closed = try self.settings()
    closed.isLoopbackOnly = true
    try await RunningServer.with(closed) { server in
      let name = ("Host", "proxied.example")
      let answer = try await server.request("POST", "/topics/a", [name] + bearer(Self.one))
      #expect(answer.status == 200)
    }
  }

  @Test func allowedPagesMayUseIt() async throws {
    try await RunningServer.with(settings()) { server in
      let origin = ("Origin", "https://friend.example")
      let asked = try await server.request("OPTIONS", "/topics/news", [origin])
      #expect(asked.status == 204)
      #expect(asked["access-control-allow-origin"] == "https://friend.example")
      #expect(asked["access-control-allow-methods"] == "GET, HEAD, POST, OPTIONS")
      #expect(asked["access-control-allow-headers"]?.contains("Authorization") == true)
      // The page can also read an error.
      let answer = try await server.request("POST", "/topics/news", [origin])
      #expect(answer.status == 401)
      #expect(answer["access-control-allow-origin"] == "https://friend.example")
      #expect(answer["vary"] == "Origin")
    }
  }
}
