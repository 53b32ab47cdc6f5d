import FanOutCore
import NIOCore
import Testing

/// What RFC 9112 asks of a server.
@Suite(.timeLimit(.minutes(5))) struct ProtocolTests {
  private func answer(_ server: RunningServer, _ text: String) async throws -> String {
    let client = try await RawClient.connect(port: server.port)
    try await client.send(text)
    await client.finish()
    return try await client.readAll()
  }

  @Test(arguments: [
    ("GET /health HTTP/1.1\r\n\r\n", 400, "there is no Host"),
    ("GET /health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "there is more than one Host"),
    ("GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, "there is more than one Host"),
    ("GET /health HTTP/1.1\r\nHost:\r\n\r\n", 400, "the Host is not valid"),
    ("GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "the Host is not valid"),
    ("GET /health HTTP/1.1\r\nHost: a, b:80:80\r\n\r\n", 400, "the Host is not valid"),
    ("GET /health HTTP/1.1\r\nHost: a:x\r\n\r\n", 400, "the Host is not valid"),
    ("GET /health HTTP/1.1\r\nHost: u@a\r\n\r\n", 400, "the Host is not valid"),
    ("GET /health HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "the Host is not valid"),
    ("BREW /health HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the method is unknown, or this is not"),
    ("GET health HTTP/1.1\r\nHost: a\r\n\r\n", 400, ""),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the target of the request is not a path"),
    ("GET http:///health HTTP/1.1\r\nHost: a\r\n\r\n", 400, ""),
    ("GET http://u:p@a/health HTTP/1.1\r\nHost: a\r\n\r\n", 400, ""),
    (
      "GET http://b/health HTTP/1.1\r\nHost: a\r\n\r\n", 421,
      "the target of the request is on another host than Host"
    ),
    ("GET https://a/health HTTP/1.1\r\nHost: a\r\n\r\n", 421, "this server is for http"),
    ("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 501, "this server is not a proxy"),
    ("GET /health HTTP/2.0\r\nHost: a\r\n\r\n", 505, "this server takes HTTP/1.1 and HTTP/1.0"),
    (
      "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      501,
      "this server takes no Transfer-Encoding but chunked"
    ),
    (
      "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501,
      "this server takes no Transfer-Encoding but chunked"
    ),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nx", 400, ""),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nx", 400, ""),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\nx", 400, ""),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\nx", 400, ""),
    (
      "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
      400, ""
    ),
    ("POST /topics/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 400, ""),
  ])
  func aRequestAgainstTheRulesIsRefused(
    _ text: String, _ status: Int, _ reason: String
  ) async throws {
    try await RunningServer.with { server in
      let next = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
      let answer = try await answer(server, text + next)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      #expect(answer.contains("{\"error\":\"\(reason)"), "\(answer)")
      // What follows it is not a request.
      #expect(answer.matches(of: /HTTP\/1\.1 \d/).count == 1, "\(answer)")
      #expect(answer.contains("Connection: close\r\n"))
      #expect(answer.contains("X-Content-Type-Options: nosniff\r\n"))
      #expect(answer.matches(of: /\r\nDate: [^\r]+ GMT\r\n/).count == 1, "\(answer)")
      #expect(try await server.metric("published_total") == 0)
    }
  }

  @Test(arguments: [
    "GET /health HTTP/1.1\r\nHost: a\r\n\r\n", "GET /health HTTP/1.1\r\nhost: a.b-c:8080\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET /health HTTP/1.0\r\n\r\n",
    "GET /health HTTP/1.0\r\nHost: a\r\n\r\n",
    "GET http://a:80/health HTTP/1.1\r\nHost: A\r\n\r\n",
    "GET HTTP://a:1/health?x HTTP/1.1\r\nHost: a:1\r\n\r\n",
    "GET http://a/health HTTP/1.0\r\n\r\n",
    "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:  Chunked\r\n\r\n0\r\n\r\n",
  ])
  func aRequestByTheRulesIsAnswered(_ text: String) async throws {
    try await RunningServer.with { server in
      let answer = try await answer(server, text)
      #expect(answer.dropFirst("HTTP/1.x ".count).hasPrefix("200 OK\r\n"), "\(answer)")
      #expect(answer.contains("\r\nX-Content-Type-Options: nosniff\r\n"), "\(answer)")
    }
  }

  /// The host of the target counts, not the header field.
  @Test func theHostOfAnAbsoluteTargetIsChecked() async throws {
    var settings = Settings()
    settings.isLoopbackOnly = true
    try await RunningServer.with(settings) { server in
      for version in ["1.0\r\n", "1.1\r\nHost: evil.example\r\n"] {
        let text = "GET http://evil.example/health HTTP/\(version)\r\n"
        let answer = try await answer(server, text)
        #expect(answer.contains(" 421 Misdirected Request\r\n"), "\(answer)")
      }
    }
  }

  @Test func theServerAsAWholeHasOptions() async throws {
    try await RunningServer.with { server in
      let answer = try await answer(server, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 204 No Content\r\n"), "\(answer)")
    }
  }

  @Test func aRefusalFollowsTheEarlierResponses() async throws {
    try await RunningServer.with { server in
      let good = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
      let bad = "GET /health HTTP/1.1\r\n\r\n"
      let answer = try await answer(server, good + good + bad + good)
      let statuses = answer.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) }
      #expect(statuses == ["200", "200", "400"], "\(answer)")
    }
  }

  /// A client takes a body behind the head for the next response.
  @Test(arguments: ["", "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"])
  func aRefusalOfHeadHasNoBody(_ before: String) async throws {
    try await RunningServer.with { server in
      let answer = try await answer(server, before + "HEAD /health HTTP/1.1\r\n\r\n")
      #expect(answer.contains("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
      #expect(answer.contains("Content-Length: 28\r\n"), "\(answer)")
      #expect(answer.hasSuffix("\r\n\r\n"), "\(answer)")
    }
  }

  @Test func aRequestAfterTheLastOneIsNotAnswered() async throws {
    try await RunningServer.with { server in
      let last = "GET /health HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n"
      let answer = try await answer(
        server, last + "POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
      #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
      #expect(answer.contains("\r\nConnection: close\r\n"), "\(answer)")
      #expect(try await server.metric("published_total") == 0)
    }
  }

  /// A client must not use the connection again.
  @Test(arguments: [
    "Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n", "Content-Length: 2\r\n\r\nx",
  ])
  func aMalformedBodyIsTheLastOfItsConnection(_ rest: String) async throws {
    try await RunningServer.with { server in
      let answer = try await answer(server, "POST /topics/a HTTP/1.1\r\nHost: a\r\n" + rest)
      #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
      #expect(answer.contains("\r\nConnection: close\r\n"), "\(answer)")
      #expect(answer.contains("{\"error\":\"the body is malformed"), "\(answer)")
    }
  }

  /// `curl --http2` and the client of Java ask for it, and then use the connection again.
  @Test(arguments: ["Upgrade, HTTP2-Settings\r\nUpgrade: h2c", "upgrade\r\nUpgrade: websocket"])
  func aRequestForAnotherProtocolIsTheLastOne(_ upgrade: String) async throws {
    try await RunningServer.with { server in
      let fields = "Host: a\r\nConnection: \(upgrade)\r\n"
      for text in [
        "GET /health HTTP/1.1\r\n\(fields)\r\n",
        "POST /topics/a HTTP/1.1\r\n\(fields)Content-Length: 1\r\n\r\nx",
      ] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(text)
        // The server closes.
        let answer = try await client.readAll()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        #expect(answer.contains("\r\nConnection: close\r\n"), "\(answer)")
      }
      #expect(try await server.metric("published_total") == 1)
    }
  }

  /// A client that does not close after a refusal holds no connection.
  @Test func aRefusedClientThatStaysIsClosed() async throws {
    var settings = Settings()
    settings.idleTimeout = .seconds(2)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port)
      // On a busy machine the connection may be closed already.
      try? await client.send("GET / HTTP/1.1\r\n\r\n")
      let answer = try await client.readAll()
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
      // The server has closed its side; it discards the rest until it closes the other one.
      while (try? await client.send("x")) != nil { try Task.checkCancellation() }
    }
  }

  @Test(arguments: [
    "/", "/health", "/metrics", "/topics", "/topics/a/events", "/nothing",
    "/client.js", "/openapi.json", "/hubs",
  ])
  func noResponseIsSniffed(_ path: String) async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
      let answer = try await client.read(until: "\r\n\r\n")
      #expect(answer.ranges(of: "X-Content-Type-Options: nosniff\r\n").count == 1, "\(answer)")
      await client.close()
    }
  }

  @Test func aStreamOfHTTP10EndsWithTheConnection() async throws {
    try await RunningServer.with { server in
      let id = try await server.published("zero")
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET /topics/news/events HTTP/1.0\r\nLast-Event-ID: \(id)\r\n\r\n")
      _ = try await client.read(until: "retry: 2000\n\n")
      try await server.published("one")
      try await server.published("two\nlines")
      _ = try await client.read(until: "data: lines\n\n")
      await server.shutDown()
      let answer = try await client.readAll()
      let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
      #expect(parts[0].hasPrefix("HTTP/1.0 200 OK\r\n"), "\(parts[0])")
      #expect(parts[0].contains("Connection: close"), "\(parts[0])")
      #expect(!parts[0].lowercased().contains("transfer-encoding"), "\(parts[0])")
      #expect(
        parts.last == """
          retry: 2000

          id: \(id + 1)
          data: one

          id: \(id + 2)
          data: two
          data: lines

          retry: 2000


          """, "\(answer)")
    }
  }

  @Test func aRequestOfHTTP10GetsNoInterimResponse() async throws {
    try await RunningServer.with { server in
      let answer = try await answer(
        server, "POST /topics/a HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx")
      #expect(answer.hasPrefix("HTTP/1.0 200 OK\r\n"), "\(answer)")
    }
  }
}
