import AsyncHTTPClient
import FanOutCore
import NIOCore
import Testing

/// The same answers with and without TLS, and over HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct TransportTests {
  @Test(arguments: RunningServer.Transport.allCases)
  func publishersAndStreams(_ transport: RunningServer.Transport) async throws {
    try await RunningServer.with(over: transport) { server in
      let first = try await server.published("one")
      var stream = try await server.stream()
      try await server.published("two")
      let batch = #"{"topic":"news","data":"three"}"# + "\n" + #"{"topic":"news","data":"four"}"#
      #expect(try await server.publish(batch: batch).status == 200)
      #expect(try await stream.data(3) == ["two", "three", "four"])
      var resumed = try await server.stream(headers: [("Last-Event-ID", "\(first)")])
      #expect(try await resumed.data(3) == ["two", "three", "four"])
      var all = try await server.events("topic=news&topic=other.*&lastEventId=\(first)")
      #expect(try await all.data(3).count == 3)
    }
  }

  /// Bodies of both kinds: those that are answered on the event loop, and those that Hummingbird
  /// reads.
  @Test(arguments: RunningServer.Transport.allCases, [0, 1, 65_536, 65_537, 300_000])
  func bodies(_ transport: RunningServer.Transport, _ size: Int) async throws {
    var settings = Settings()
    settings.maxEventBytes = 100_000
    try await RunningServer.with(settings, over: transport) { server in
      var stream = try await server.stream()
      let text = String(repeating: "x", count: size)
      let answer = try await server.publish(text)
      #expect(answer.status == (size > 100_000 ? 413 : 200))
      if size <= 100_000 { #expect(try await stream.data(1) == [text]) }
      // The next request, on the same connection or another one.
      #expect(try await server.publish("next").status == 200)
      #expect(try await stream.data(1) == ["next"])
    }
  }

  @Test(arguments: RunningServer.Transport.allCases)
  func answers(_ transport: RunningServer.Transport) async throws {
    func answers(
      _ transport: RunningServer.Transport
    ) async throws -> [RunningServer.Answer] {
      var settings = Settings()
      settings.allowedOrigins = ["https://example.org"]
      return try await RunningServer.with(settings, over: transport) { server in
        var answers: [RunningServer.Answer] = []
        for (method, path) in [
          ("GET", "/"), ("GET", "/client.js"), ("GET", "/openapi.json"), ("GET", "/health"),
          ("GET", "/topics"), ("GET", "/topics/a"), ("GET", "/nothing"), ("DELETE", "/topics"),
          ("OPTIONS", "/topics/a"), ("HEAD", "/health"), ("HEAD", "/topics/a/events"),
          ("GET", "/topics/a b"), ("GET", "/topics?limit=x"),
        ] {
          let path = path.replacing(" ", with: "%20")
          answers.append(try await server.request(method, path))
          answers.append(
            try await server.request(method, path, [("Origin", "https://example.org")]))
          answers.append(try await server.request(method, path, [("Origin", "https://evil.org")]))
        }
        return answers
      }
    }
    // What belongs to the connection, and the time.
    let ignored = ["connection", "transfer-encoding", "content-length", "date"]
    let expected = try await answers(.http1)
    let actual = try await answers(transport)
    #expect(actual.count == expected.count)
    for (actual, expected) in zip(actual, expected) {
      #expect(actual.status == expected.status)
      #expect(actual.body == expected.body)
      #expect(
        actual.headers.filter { !ignored.contains($0.key) }
          == expected.headers.filter { !ignored.contains($0.key) })
    }
  }

  /// A page of the server itself may publish.
  @Test(arguments: RunningServer.Transport.allCases)
  func theOriginOfTheServer(_ transport: RunningServer.Transport) async throws {
    try await RunningServer.with(over: transport) { server in
      let host = transport == .http1 ? "127.0.0.1" : "localhost"
      for scheme in ["http", "https"] {
        let origin = "\(scheme)://\(host):\(server.port)"
        let answer = try await server.request("POST", "/topics/a", [("Origin", origin)])
        // Without TLS a proxy may have it. With TLS the plain page of this name is another one.
        #expect(answer.status == (transport != .http1 && scheme == "http" ? 403 : 200))
      }
    }
  }

  @Test(arguments: RunningServer.Transport.allCases)
  func manyClients(_ transport: RunningServer.Transport) async throws {
    var settings = Settings()
    settings.maxStreamsPerConnection = 200
    try await RunningServer.with(settings, over: transport) { server in
      try await withThrowingTaskGroup(of: [String].self) { group in
        for number in 0..<150 {
          group.addTask {
            var stream = try await server.stream("t\(number % 2)")
            return try await stream.data(100)
          }
        }
        try await server.wait(until: "streams", is: 150)
        for number in 0..<100 {
          for topic in 0..<2 { try await server.published("\(number)", to: "t\(topic)") }
        }
        for try await texts in group { #expect(texts == (0..<100).map(String.init)) }
      }
      try await server.wait(until: "streams", is: 0)
      #expect(try await server.metric("sent_total") == 15_000)
      #expect(try await server.metric("dropped_total") == 0)
    }
  }
}
