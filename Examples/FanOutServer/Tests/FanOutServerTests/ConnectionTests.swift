import FanOutCore
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
  @Test func aThousandConnectionsComeAndGo() async throws {
    try await RunningServer.with { server in
      for round in 1...2 {
        try await withThrowingTaskGroup(of: String?.self) { group in
          for number in 0..<1000 {
            group.addTask {
              var stream = try await server.stream("t\(number % 3)")
              return try await stream.data(1).first
            }
          }
          try await server.wait(until: "streams", is: 1000)
          for topic in 0..<3 { try await server.published("round \(round)", to: "t\(topic)") }
          for try await text in group { #expect(text == "round \(round)") }
        }
        // Each stream ends with its connection.
        try await server.wait(until: "streams", is: 0)
      }
      // Each reader got its event once.
      #expect(try await server.metric("reached_total") == 2000)
      #expect(try await server.metric("sent_total") == 2000)
      #expect(try await server.metric("dropped_total") == 0)
    }
  }

  @Test func aClientThatClosesIsForgotten() async throws {
    try await RunningServer.with { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET /topics/news/events HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try await client.read(until: "retry:")
      #expect(try await server.metric("streams") == 1)
      #expect(try await server.metric("topics") == 1)
      await client.close()
      try await server.wait(until: "streams", is: 0)
      // A topic without events is removed with its last subscriber.
      try await server.wait(until: "topics", is: 0)
    }
  }

  @Test func aClientThatClosesWhileItIsStalledIsForgotten() async throws {
    var settings = Settings()
    settings.bufferLimit = 2
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.openStalledStream(port: server.port)
      try await server.wait(until: "streams", is: 1)
      let text = String(repeating: "x", count: 60_000)
      while try await server.metric("dropped_total") == 0 { try await server.published(text) }
      await client.close()
      try await server.wait(until: "streams", is: 0)
    }
  }

  @Test func moreConnectionsThanAreAllowedWait() async throws {
    var settings = Settings()
    settings.maxConnections = 3
    try await RunningServer.with(settings) { server in
      var clients: [RawClient] = []
      for _ in 0..<6 {
        let client = try await RawClient.connect(port: server.port)
        try await client.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        clients.append(client)
      }
      // Each connection that closes makes room for one that waits.
      for client in clients {
        #expect(try await client.read(until: "streams").contains("200 OK"))
        await client.close()
      }
    }
  }
}
