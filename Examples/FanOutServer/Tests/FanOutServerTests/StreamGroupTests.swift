import FanOutCore
import NIOPosix
import Testing

/// Streams of one topic that share a reader.
@Suite(.timeLimit(.minutes(5))) struct StreamGroupTests {
  /// The number of readers, of all topics.
  private func readers(_ server: RunningServer) async throws -> Int {
    let text = try await server.request("GET", "/hubs").body
    let count = try #require(text.firstRange(of: "\"receiverCount\":")?.upperBound)
    return try #require(Int(text[count...].prefix { $0.isNumber }))
  }

  private func wait(_ server: RunningServer, untilReaders accepts: (Int) -> Bool) async throws {
    while !accepts(try await readers(server)) { try Task.checkCancellation() }
  }

  private var loopCount: Int {
    MultiThreadedEventLoopGroup.singleton.makeIterator().reduce(0) { count, _ in count + 1 }
  }

  private var settings: Settings {
    var settings = Settings()
    settings.bufferLimit = 1000
    settings.historyEvents = 1000
    settings.historyBytes = 1 << 30
    return settings
  }

  @Test func streamsThatAreUpToDateShareAReaderForEachLoopAndTopic() async throws {
    try await RunningServer.with { server in
      var streams: [EventReader] = []
      for number in 1...20 {
        streams.append(try await server.stream())
        #expect(try await server.publish("\(number)").body.contains(#""subscribers":\#(number)}"#))
        #expect(try await streams[number - 1].data(1) == ["\(number)"])
        #expect(try await readers(server) <= loopCount)
      }
      for index in streams.indices.dropLast() {
        #expect(try await streams[index].data(1) == ["\(index + 2)"])
      }
      let other = try await server.stream("other")
      #expect(try await readers(server) <= loopCount + 1)
      withExtendedLifetime(other) {}
      streams.removeLast(15)
      try await server.wait(until: "streams", is: 6)
      #expect(try await server.publish("last").body.contains(#""subscribers":5}"#))
      streams = []
      try await server.wait(until: "streams", is: 1)
      try await wait(server) { $0 == 1 }
    }
  }

  @Test func aStreamThatResumesJoinsTheOthersWithoutAnEvent() async throws {
    try await RunningServer.with { server in
      let id = try await server.published("1")
      try await server.published("1", to: "other")
      var streams: [EventReader] = []
      for _ in 1...8 {
        streams.append(try await server.stream("news", headers: [("Last-Event-ID", "\(id)")]))
      }
      try await wait(server) { $0 <= loopCount }
      try await server.published("2")
      for index in streams.indices { #expect(try await streams[index].data(1) == ["2"]) }
    }
  }

  @Test func aSlowStreamLeavesTheOthersAndComesBackWithEveryEvent() async throws {
    let text = String(repeating: "x", count: 50_000)
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      let slow = try await RawClient.openStalledStream(port: server.port)
      try await server.wait(until: "streams", is: 2)
      for number in 0..<150 {
        try await server.published("\(number):\(text)")
        #expect(try await stream.data(1).first?.hasPrefix("\(number):") == true)
      }
      #expect(try await server.metric("pending_events") > 0)
      #expect(try await server.publish("last").body.contains(#""subscribers":2}"#))
      let received = try await slow.read(until: "data: last\n")
      let numbers = received.split(separator: "\n").compactMap { line in
        line.hasPrefix("data: ") ? Int(line.dropFirst(6).prefix { $0 != ":" }) : nil
      }
      #expect(numbers == Array(0..<150))
      #expect(!received.contains("missed"))
      try await wait(server) { $0 <= loopCount }
      try await server.published("again")
      #expect(try await slow.read(until: "data: again\n").contains("data: last\n"))
      #expect(try await stream.data(2) == ["last", "again"])
      await slow.close()
    }
  }

  /// A loop that is too slow for its streams makes all of them miss the same events.
  @Test func whatSharedStreamsMissCountsForEachOfThem() async throws {
    var settings = settings
    settings.historyEvents = 0
    settings.bufferLimit = 1
    try await RunningServer.with(settings) { server in
      var streams: [EventReader] = []
      for _ in 0..<3 { streams.append(try await server.stream()) }
      try await wait(server) { $0 <= loopCount }
      let line = #"{"topic":"news","data":"x"}"# + "\n"
      let batch = String(repeating: line, count: 128)
      while try await server.metric("dropped_total") == 0 {
        #expect(try await server.publish(batch: batch).status == 200)
      }
      try await server.published("last")
      for index in streams.indices {
        while let data = try await streams[index].next()?.data, data != "last" {}
      }
      let dropped = try await server.metric("dropped_total")
      let topic = try await server.request("GET", "/topics/news").body
      #expect(topic.contains(#""dropped":\#(dropped),"#), "\(dropped) \(topic)")
    }
  }

  @Test func streamsThatComeAndGoMissNothingAndGetNothingTwice() async throws {
    let count = 600
    try await RunningServer.with(settings) { server in
      let start = try await server.published("-1")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for client in 0..<8 {
          group.addTask {
            var random = SplitMix64(seed: SplitMix64.runSeed &+ UInt64(client))
            var id = start
            var next = 0
            while next < count {
              var stream = try await server.stream("news", headers: [("Last-Event-ID", "\(id)")])
              for _ in 0..<Int.random(in: 1...40, using: &random) where next < count {
                let event = try #require(try await stream.next())
                try #require(event.data == "\(next)")
                id = try #require(event.id)
                next += 1
              }
            }
          }
        }
        for number in 0..<count { try await server.published("\(number)") }
        try await group.waitForAll()
      }
      #expect(try await server.metric("dropped_total") == 0)
      try await server.wait(until: "streams", is: 0)
      try await wait(server) { $0 == 0 }
    }
  }

  @Test func membersThatEndLeaveTheOthers() async throws {
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      let old = try await RawClient.connect(port: server.port)
      try await old.send("GET /topics/news/events HTTP/1.0\r\nHost: localhost\r\n\r\n")
      try await server.wait(until: "streams", is: 2)
      try await wait(server) { $0 <= loopCount }
      try await server.published("1")
      #expect(try await old.read(until: "data: 1\n\n").contains("\r\n\r\n"))
      await old.close()
      try await server.wait(until: "streams", is: 1)
      try await server.published("2")
      #expect(try await stream.data(2) == ["1", "2"])
      await server.shutDown()
      // The end.
      #expect(try await stream.next() == nil)
    }
  }
}
