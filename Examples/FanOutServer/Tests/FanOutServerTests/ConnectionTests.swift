import NIOCore
import Testing

@testable import FanOutCore

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

  /// Its address is not known any more, so no limit per address would count it.
  @Test func aClientThatLeavesBeforeItIsAcceptedPublishesNothing() async throws {
    try await RunningServer.with { server in
      try blockingEventLoops {
        for _ in 0..<20 {
          try sendAndReset(
            "POST /topics/news HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
            port: server.port)
        }
      }
      // Connections are accepted in their order.
      for _ in 0..<20 { _ = try await server.metric("streams") }
      #expect(try await server.metric("published_total") == 0)
    }
  }

  /// Opens streams until all places are taken.
  private func takeAll(_ count: Int, _ server: RunningServer) async throws -> [RawClient] {
    var clients: [RawClient] = []
    for _ in 0..<count {
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET /topics/news/events HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try await client.read(until: "retry:")
      clients.append(client)
    }
    return clients
  }

  @Test(arguments: ["/health", "/metrics"])
  func monitoringIsAnsweredWhenAllConnectionsAreTaken(_ path: String) async throws {
    var settings = Settings()
    settings.maxConnections = 5
    try await RunningServer.with(settings) { server in
      let streams = try await takeAll(5, server)
      for _ in 0..<50 {
        let client = try await RawClient.connect(port: server.port)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try await client.readAll()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        #expect(answer.contains("Connection: close\r\n"), "\(answer)")
      }
      for path in ["/topics/news/events", "/topics", "/", "/healthy"] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try await client.readAll()
        #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
        #expect(answer.lowercased().contains("retry-after: 1\r\n"), "\(answer)")
      }
      for stream in streams { await stream.close() }
      // A place is free again.
      while true {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(
          "GET /topics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        if try await client.readAll().hasPrefix("HTTP/1.1 200 ") { break }
        try Task.checkCancellation()
      }
    }
  }

  /// Clients that say nothing take the reserved places only for a short time.
  @Test func silentClientsDoNotHinderMonitoring() async throws {
    var settings = Settings()
    settings.maxConnections = 1
    let patience = TimeAmount.seconds(3)
    settings.patience = patience
    try await RunningServer.with(settings) { server in
      let stream = try await takeAll(1, server)
      var silent: [RawClient] = []
      for _ in 0..<40 { silent.append(try await RawClient.connect(port: server.port)) }
      while true {
        let begin = NIODeadline.now()
        let client = try await RawClient.connect(port: server.port)
        try? await client.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = (try? await client.readAll()) ?? ""
        await client.close()
        // A test that was kept waiting for longer than the patience is a silent client too.
        if answer.isEmpty && .now() - begin >= patience { continue }
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        break
      }
      for client in silent + stream { await client.close() }
    }
  }

  @Test func anAddressHasOnlyItsConnections() async throws {
    var settings = Settings()
    settings.maxConnectionsPerAddress = 3
    try await RunningServer.with(settings) { server in
      let streams = try await takeAll(3, server)
      for path in ["/topics/news/events", "/topics"] {
        let client = try await RawClient.connect(port: server.port)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try await client.readAll()
        #expect(answer.hasPrefix("HTTP/1.1 429 "), "\(answer)")
        #expect(answer.contains("this address has too many connections"), "\(answer)")
      }
      // The streams of the address continue.
      await streams[0].close()
      while true {
        let client = try await RawClient.connect(port: server.port)
        try await client.send(
          "POST /topics/news HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
            + "Connection: close\r\n\r\nx")
        if try await client.readAll().hasPrefix("HTTP/1.1 200 ") { break }
        try Task.checkCancellation()
      }
      for stream in streams[1...] { _ = try await stream.read(until: "data: x\n") }
      for stream in streams[1...] { await stream.close() }
    }
  }

  /// They would take the places for monitoring from others.
  @Test func onlySomeConnectionsOfAnAddressWaitForARefusal() async throws {
    var settings = Settings()
    settings.maxConnectionsPerAddress = 1
    settings.patience = .hours(1)
    try await RunningServer.with(settings) { server in
      let stream = try await takeAll(1, server)
      var silent: [RawClient] = []
      for _ in 0...ConnectionPlaces.reservedForRefusals {
        silent.append(try await RawClient.connect(port: server.port))
      }
      try await withThrowingTaskGroup { group in
        for client in silent { group.addTask { try await client.readAll() } }
        // One is closed at once; the others end when they are cancelled.
        let closed = try await group.next()
        #expect(closed == "")
        group.cancelAll()
      }
      // Then others get an answer again.
      var answer = ""
      while !answer.hasPrefix("HTTP/1.1 429 ") {
        try Task.checkCancellation()
        let client = try await RawClient.connect(port: server.port)
        try? await client.send("GET /topics HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = try await client.readAll()
      }
      await stream[0].close()
    }
  }
}
