import FanOutCore
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamTests {
  @Test func aStreamBeginsWithTheReconnectionTime() async throws {
    var settings = Settings()
    settings.retry = .milliseconds(1234)
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      #expect(try await stream.nextBlock()?.retry == 1234)
    }
  }

  @Test(arguments: ["/topics/news/events?begin=1", "/events?topic=news&begin=1"])
  func aStreamBeginsWithAnEventOnDemand(_ path: String) async throws {
    try await RunningServer.with { server in
      let id = try await server.published("x")
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let text = try await client.read(until: "retry: 2000\n\n")
      #expect(text.contains("id: \(id)\nevent: begin\ndata: {}\nretry: 2000\n\n"), "\(text)")
      await client.close()
    }
  }

  @Test func eventsArriveOnceAndInOrder() async throws {
    try await RunningServer.with { server in
      var streams: [EventReader] = []
      for _ in 0..<10 { streams.append(try await server.stream()) }
      var ids: [UInt64] = []
      for number in 0..<200 { ids.append(try await server.published("\(number)")) }
      for index in streams.indices {
        for number in 0..<200 {
          let event = try await streams[index].next()
          #expect(event?.id == ids[number])
          #expect(event?.data == "\(number)")
        }
      }
    }
  }

  @Test func aTopicsStreamHasItsEventsAlone() async throws {
    try await RunningServer.with { server in
      var stream = try await server.stream("a")
      for (topic, text) in [("b", "1"), ("a", "2"), ("a.b", "3"), ("A", "4"), ("a", "5")] {
        try await server.published(text, to: topic)
      }
      #expect(try await stream.data(2) == ["2", "5"])
    }
  }

  @Test func aQuietStreamHasHeartbeats() async throws {
    var settings = Settings()
    settings.heartbeat = .milliseconds(80)
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      _ = try await stream.nextBlock()
      for _ in 0..<3 {
        #expect(try await stream.nextBlock() == EventReader.Block(isComment: true))
      }
    }
  }

  @Test func theEndOfASlowStreamDoesNotDelayOthers() async throws {
    var settings = Settings()
    settings.bufferLimit = 4
    settings.heartbeat = .hours(1)
    settings.drain = .milliseconds(100)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.openStalledStream(
        port: server.port, query: "?policy=disconnect")
      try await server.wait(until: "streams", is: 1)
      let text = String(repeating: "x", count: 50_000)
      for _ in 0..<150 { try await server.published(text) }
      #expect(try await client.read(until: "event: disconnected\n").contains("disconnected"))
      try await server.published("1", to: "other")
      await client.close()
    }
  }

  @Test(arguments: ["x", "-1", "1.0", "+1", "0x10", "18446744073709551616", "1 2", "١"])
  func anInvalidLastEventIDIsRefused(_ id: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request(
        "GET", "/topics/news/events", [("Last-Event-ID", id)])
      #expect(answer.status == 400)
      #expect(answer.body.contains("Last-Event-ID"))
    }
  }

  @Test(arguments: [
    "?policy=newest", "?policy", "?policy=", "?policy=latest&policy=latest", "?x=1", "?&",
    "?policy=latest&x", "?begin", "?begin=0", "?begin=x", "?begin=1&begin=1",
  ])
  func anInvalidQueryIsRefused(_ query: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/topics/news/events\(query)")
      #expect(answer.status == 400)
    }
  }
}
