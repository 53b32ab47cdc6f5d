import FanOutCore
import NIOCore
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestTests {
  @Test(arguments: [
    "/x", "/topics/", "/topics/a/b", "/topics/a/events/", "//", "/health/", "/Topics",
  ])
  func anUnknownPathIsNotFound(_ path: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", path)
      #expect(answer.status == (path == "/topics/" ? 400 : 404))
      #expect(answer.body.hasPrefix("{\"error\":\""))
    }
  }

  @Test(arguments: [
    ("PUT", "/topics/a", "GET, HEAD, POST, OPTIONS"), ("HEAD", "/events", "GET, POST, OPTIONS"),
    ("POST", "/topics/a/events", "GET, OPTIONS"), ("HEAD", "/topics/a/events", "GET, OPTIONS"),
    ("POST", "/", "GET, HEAD, OPTIONS"), ("DELETE", "/topics", "GET, HEAD, OPTIONS"),
  ])
  func aWrongMethodIsRefused(
    _ method: String, _ path: String, _ allowed: String
  ) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request(method, path)
      #expect(answer.status == 405)
      #expect(answer["allow"] == allowed)
    }
  }

  @Test func headIsAnswered() async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("HEAD", "/health")
      #expect(answer.status == 200)
      #expect(answer.body.isEmpty)
    }
  }

  /// The client would read a body as the response to the next request.
  @Test(arguments: ["/nothing", "/topics/a/events", "/topics", "/health"])
  func anAnswerToHeadHasNoBody(_ path: String) async throws {
    var settings = Settings()
    settings.tokens = AccessTokens(subscribe: try Tokens("0123456789abcdef"))
    try await RunningServer.with(settings) { server in
      for origin in ["", "Origin: https://evil.example\r\n"] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\(origin)\r\n")
        try await client.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answers = try await client.readAll()
        #expect(answers.ranges(of: "HTTP/1.1 ").count == 2)
        // The labels of metrics are in braces too.
        #expect(!answers.contains("{\""), "\(answers)")
      }
    }
  }

  @Test func topicsAreListedByName() async throws {
    try await RunningServer.with { server in
      #expect(try await server.request("GET", "/topics").body == "{\"topics\":[]}\n")
      let stream = try await server.stream("b")
      try await server.published("x", to: "b")
      try await server.published("x", to: "a")
      try await server.wait(until: "pending_events", is: 0)
      // Rates are over whole seconds, so they depend on the time.
      let topics = try await server.request("GET", "/topics").body
      #expect(
        topics.replacing(/PerSecond":0\.[01]/, with: "PerSecond\":0") == """
          {"topics":[{"topic":"a","subscribers":0,"published":1,"publishedPerSecond":0,"reached":0,\
          "reachedPerSecond":0,"dropped":0,"pending":0,"kept":1},\
          {"topic":"b","subscribers":1,"published":1,"publishedPerSecond":0,"reached":1,\
          "reachedPerSecond":0,"dropped":0,"pending":0,"kept":1}]}

          """)
      _ = stream
    }
  }

  @Test func healthReportsTheState() async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/health")
      #expect(answer.status == 200)
      #expect(
        answer.body == #"{"status":"ok","log":"local","connected":true,"streams":0}"# + "\n")
    }
  }

  @Test func thePageHasNoExternalResources() async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/")
      #expect(answer.status == 200)
      #expect(answer["content-type"] == "text/html; charset=utf-8")
      #expect(answer["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
      #expect(!answer.body.contains("://"))
    }
  }

  @Test func metricsAreWellFormed() async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/metrics")
      #expect(answer["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      let lines = answer.body.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.last == "")
      let metrics = lines.dropLast()
      #expect(metrics.count % 3 == 0)
      for index in stride(from: 0, to: metrics.count - 2, by: 3) {
        // There is one hub, so each name has one value.
        let name = metrics[index + 2].prefix { $0 != " " && $0 != "{" }
        #expect(metrics[index].hasPrefix("# HELP \(name) "))
        #expect(["counter", "gauge"].contains { metrics[index + 1] == "# TYPE \(name) \($0)" })
        #expect(name.hasSuffix("_total") == metrics[index + 1].hasSuffix("counter"))
      }
    }
  }

  /// Input that is not HTTP, or not correct.
  @Test(arguments: [
    ("GET\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"),
    ("G\u{1}T / HTTP/1.1\r\n\r\n", "400"), ("GET / HTTP/9.9\r\n\r\n", "505"),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: \u{0}\r\n\r\n", "400"),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", "400"),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "400"),
    (
      "POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "400"
    ),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", "400"),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n", "413"),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n", "413"),
    ("POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"),
    (
      "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
      "400"
    ),
    (
      "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
      "400"
    ),
    ("GET /\(String(repeating: "x", count: 200_000)) HTTP/1.1\r\n\r\n", "431"),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: \(String(repeating: "x", count: 200_000))\r\n\r\n", "431"),
  ])
  func malformedRequestsAreRefused(_ text: String, _ status: String) async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      // The connection may be closed already: the server refuses some requests before it reads
      // them.
      try? await client.send(text)
      // The server reads the rest of a body that is too long, so that the client can read the
      // response.
      let answer = try await client.read(until: status == "413" ? "}\n" : "nothing")
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      #expect(try await server.request("GET", "/health").status == 200)
    }
  }

  /// The client closes its side before the request is complete.
  @Test(arguments: [
    "", "\r\n\r\nx", "GET / HTTP/1.1\r\n",
    "POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
  ])
  func anUnfinishedRequestIsNotServed(_ text: String) async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send(text)
      await client.finish()
      let answer = try await client.readAll()
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
      #expect(try await server.metric("published_total") == 0)
    }
  }

  /// A log that must not be used.
  private final class Untouched: EventLog {
    func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      Issue.record("an event was published")
      throw Unavailable("the test publishes nothing")
    }

    func run() async throws { try? await gracefulShutdown() }

    var status: LogStatus { LogStatus(kind: "none", isConnected: true) }
  }

  @Test func aConnectionThatSaysNothingIsClosed() async throws {
    var settings = Settings()
    settings.idleTimeout = .milliseconds(100)
    // The log fails the test at a publication: on a busy machine the server may close the
    // connection of a request for the metrics before it arrives.
    try await RunningServer.with(settings, makeLog: { _ in Untouched() }) { server in
      let silent = try await RawClient.connect(port: server.port)
      #expect(try await silent.readAll() == "")
      let slow = try await RawClient.connect(port: server.port)
      // The connection may be closed already. Then what is sent resets it.
      try? await slow.send("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      _ = try? await slow.readAll()
    }
  }

  @Test func manyRequestsMayShareAConnection() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      let request = "POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
      try await client.send(String(repeating: request, count: 50))
      try await client.send("GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let answers = try await client.readAll()
      #expect(answers.ranges(of: "HTTP/1.1 200 OK").count == 50)
      #expect(answers.ranges(of: "HTTP/1.1 404 Not Found").count == 1)
    }
  }

  @Test func nothingIsAnsweredInTheMiddleOfAStream() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      let stream = "GET /topics/a/events HTTP/1.1\r\nHost: a\r\n\r\n"
      try await client.send(stream + "GET /health HTTP/1.1\r\nHost: a\r\n\r\n" + stream)
      let answers = try await client.readAll()
      #expect(answers.ranges(of: "HTTP/1.1").count <= 1)
      #expect(!answers.contains("status"))
      try await server.wait(until: "streams", is: 0)
    }
  }

  /// Each byte arrives in time, but not the complete body.
  @Test func aBodyThatTricklesHoldsNoConnection() async throws {
    var settings = Settings()
    settings.idleTimeout = .milliseconds(300)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port)
      let head = "POST /topics/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      // On a busy machine the connection may be closed already.
      try? await client.send(head)
      await send("1\r\nx\r\n", untilClosed: client)
    }
  }

  @Test func anAnswerThatIsNotReadHoldsNoConnection() async throws {
    var settings = Settings()
    settings.idleTimeout = .milliseconds(300)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
      // Responses of some 28 MB: more than the kernel's buffers hold.
      let count = 2000
      let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
      try? await client.send(String(repeating: request, count: count))
      await send(request, untilClosed: client)
    }
  }

  /// Sends `text` repeatedly, until the server closes or the test takes too long.
  private func send(_ text: String, untilClosed client: RawClient) async {
    await withTaskCancellationHandler {
      while (try? await client.send(text)) != nil {}
      #expect(!Task.isCancelled)
    } onCancel: {
      Task { await client.close() }
    }
  }
}
