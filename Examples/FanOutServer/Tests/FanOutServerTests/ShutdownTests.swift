import FanOutCore
import Foundation
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
  @Test func streamsEndWithAReconnectionTime() async throws {
    var settings = Settings()
    settings.retry = .milliseconds(4321)
    settings.heartbeat = .hours(1)
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      _ = try await stream.nextBlock()
      await server.shutDown()
      #expect(try await stream.nextBlock() == EventReader.Block(retry: 4321))
      #expect(try await stream.nextBlock() == nil)
    }
  }

  @Test func acknowledgedEventsArrive() async throws {
    try await RunningServer.with { server in
      var streams: [EventReader] = []
      for _ in 0..<20 { streams.append(try await server.stream()) }
      let publishing = Task {
        var acknowledged = 0
        // Until the server refuses the event or the connection.
        while let answer = try? await server.publish("\(acknowledged)"), answer.status == 200 {
          acknowledged += 1
          if acknowledged == 100 { await server.shutDown() }
        }
        return acknowledged
      }
      let acknowledged = await publishing.value
      #expect(acknowledged >= 100)
      for index in streams.indices {
        let texts = try await streams[index].data(acknowledged)
        #expect(texts == (0..<acknowledged).map(String.init))
        #expect(try await streams[index].next() == nil)
      }
    }
  }

  /// A client that does not wait for its responses gets those to everything that was published,
  /// although the server does not take all of its requests.
  @Test func responsesArriveBeforeARequestThatIsNotTaken() async throws {
    var settings = Settings()
    settings.drain = .seconds(240)
    settings.bufferLimit = 100_000
    settings.quietTime = .seconds(60)
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream("a")
      let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
      let publication = "POST /topics/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
      // Their responses wait in the server's socket.
      try await client.send(String(repeating: publication, count: 200))
      try await server.wait(until: "published_total", is: 200)
      let sending = Task {
        while (try? await client.send(publication)) != nil {
          try? await Task.sleep(for: .milliseconds(2))
        }
      }
      while try await server.metric("published_total") < 220 { try Task.checkCancellation() }
      await server.shutDown()
      while let other = try? await RawClient.connect(port: server.port) { await other.close() }
      // Some of what the client sends comes after the server's side was closed.
      try await Task.sleep(for: .milliseconds(100))
      var published = 0
      while let event = try await stream.next() { if event.data != nil { published += 1 } }
      let text = try await client.readAll()
      #expect(published >= 200)
      #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count - 1 == published)
      await client.close()
      await sending.value
    }
  }

  /// Those that the client has not taken yet, and those that are only made when it takes others.
  @Test func responsesThatWaitForTheClientArrive() async throws {
    var settings = Settings()
    settings.drain = .seconds(240)
    try await RunningServer.with(settings) { server in
      let publication = "POST /topics/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
      let page = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
      var clients: [RawClient] = []
      // Up to more than the buffers of a connection hold.
      for pages in 1...12 {
        let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
        try await client.send(publication + String(repeating: page, count: pages))
        clients.append(client)
      }
      try await server.wait(until: "published_total", is: clients.count)
      await server.shutDown()
      // Until it takes no more connections.
      while let other = try? await RawClient.connect(port: server.port) { await other.close() }
      for (index, client) in clients.enumerated() {
        let text = try await client.readAll()
        #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == index + 3)
        #expect(text.components(separatedBy: "</html>").count == index + 2)
      }
    }
  }

  /// So that the client sends later requests, and those that the server has not taken, elsewhere.
  @Test func theLastResponseSaysThatTheConnectionCloses() async throws {
    var settings = Settings()
    settings.drain = .seconds(240)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port)
      let head = "POST /topics/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
      try await client.send(head + "Expect: 100-continue\r\n\r\n")
      _ = try await client.read(until: "100 Continue\r\n\r\n")
      await server.shutDown()
      while let other = try? await RawClient.connect(port: server.port) { await other.close() }
      try await client.send("x\(head)\r\ny")
      let text = try await client.readAll()
      let says = text.components(separatedBy: "HTTP/1.1 503 ").dropFirst()
        .map { $0.contains("\r\nConnection: close\r\n") }
      // The second request may be there before the first one is answered.
      #expect(says == [true] || says == [false, true], "\(text)")
    }
  }

  /// What waits for the end of a pause is written at once.
  @Test func pausesEnd() async throws {
    var settings = Settings()
    settings.pause = .hours(1)
    settings.drain = .seconds(20)
    try await RunningServer.with(settings) { server in
      var streams: [EventReader] = []
      for _ in 0..<3 { streams.append(try await server.stream()) }
      for number in 0..<5 { try await server.published("\(number)") }
      await server.shutDown()
      for index in streams.indices {
        #expect(try await streams[index].data(5) == (0..<5).map(String.init))
        #expect(try await streams[index].nextBlock()?.retry == 2000)
        #expect(try await streams[index].nextBlock() == nil)
      }
    }
  }

  @Test func aStalledReaderDelaysItNoLongerThanAllowed() async throws {
    var settings = Settings()
    settings.bufferLimit = 2
    settings.drain = .milliseconds(300)
    let client = try await RunningServer.with(settings) { server in
      let client = try await RawClient.openStalledStream(port: server.port)
      try await server.wait(until: "streams", is: 1)
      let text = String(repeating: "x", count: 60_000)
      while try await server.metric("dropped_total") == 0 { try await server.published(text) }
      await server.shutDown()
      // `with` returns when the server has ended, before the client reads.
      return client
    }
    await client.close()
  }

  @Test func halfARequestDelaysItNoLongerThanAllowed() async throws {
    var settings = Settings()
    settings.drain = .milliseconds(300)
    // Only the shutdown may end it.
    settings.idleTimeout = .hours(24)
    let client = try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send(
        "POST /topics/a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
      _ = try await client.read(until: "100 Continue")
      return client
    }
    await client.close()
  }
}
