import FanOutCore
import NIOCore
import Testing

/// The events for a client that does not read.
@Suite(.timeLimit(.minutes(5))) struct PolicyTests {
  private static let size = 50_000
  private static let count = 150

  private static func text(_ number: Int) -> String {
    "\(number):" + String(repeating: "x", count: size) + ":\(number)"
  }

  private var settings: Settings {
    var settings = Settings()
    settings.bufferLimit = 4
    settings.historyEvents = 1
    // Publishing must not take as long as two heartbeats.
    settings.heartbeat = .hours(1)
    return settings
  }

  /// Opens a stream without reading it, and publishes 7.5 MB to it: more than the kernel's buffers
  /// hold.
  private func stalled(
    _ query: String, _ server: RunningServer, streams count: Int = 1
  ) async throws -> RawClient {
    let client = try await RawClient.openStalledStream(port: server.port, query: query)
    try await server.wait(until: "streams", is: count)
    for number in 0..<Self.count {
      try await server.published(Self.text(number))
    }
    return client
  }

  /// The numbers of the events in a stream, and the counts of its notices of missed events.
  private func parse(_ text: String) -> (numbers: [Int], missed: [Int]) {
    var numbers: [Int] = []
    var missed: [Int] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("data: {\"reason\":\"slow\",\"count\":") {
        missed.append(Int(line.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? -1)
      } else if line.hasPrefix("data: "), line.count > Self.size {
        numbers.append(Int(line.dropFirst(6).prefix { $0.isNumber }) ?? -1)
      }
    }
    return (numbers, missed)
  }

  @Test(arguments: ["", "?policy=dropOldest", "?policy=latest"])
  func droppedEventsAreReportedWhereTheyAreMissing(_ query: String) async throws {
    try await RunningServer.with(settings) { server in
      let client = try await stalled(query, server)
      let dropped = try await server.metric("dropped_total")
      #expect(dropped > 0)
      let topics = try await server.request("GET", "/topics").body
      #expect(topics.contains("\"dropped\":\(dropped),"))
      // At most what the policy allows, and the events that the stream is about to write.
      let limit = query == "?policy=latest" ? 1 : 4
      #expect(try await server.metric("pending_events") <= 2 * limit)
      let (numbers, missed) = parse(try await client.read(until: "x:\(Self.count - 1)\n"))
      #expect(numbers.last == Self.count - 1)
      #expect(numbers == numbers.sorted())
      #expect(numbers.count + missed.reduce(0, +) == Self.count)
      #expect(missed.reduce(0, +) == dropped)
      await client.close()
    }
  }

  @Test func aSlowReaderWithPolicyDisconnectIsDisconnected() async throws {
    try await RunningServer.with(settings) { server in
      let client = try await stalled("?policy=disconnect", server)
      #expect(try await server.metric("pending_events") <= 2 * 4)
      let notice = "event: disconnected\ndata: {\"reason\":\"slow\"}\n\n"
      let (numbers, _) = parse(try await client.read(until: notice))
      // It has all events up to one, and the notice.
      #expect(numbers == Array(0..<numbers.count))
      #expect(numbers.count < Self.count)
      try await server.wait(until: "streams", is: 0)
      await client.close()
    }
  }

  @Test func aStalledReaderWithPolicyDisconnectIsClosed() async throws {
    var settings = settings
    settings.heartbeat = .milliseconds(200)
    try await RunningServer.with(settings) { server in
      let other = try await stalled("", server)
      let client = try await stalled("?policy=disconnect", server, streams: 2)
      // It never reads, so the server closes its connection.
      try await server.wait(until: "streams", is: 1)
      await client.close()
      // The stream with another policy stays open.
      #expect(try await other.read(until: "x:\(Self.count - 1)\n").contains("\"slow\""))
      await other.close()
    }
  }

  @Test func aStalledReaderDoesNotDelayOthers() async throws {
    try await RunningServer.with(settings) { server in
      var other = try await server.stream()
      async let texts = {
        var numbers: [Int] = []
        while numbers.last != Self.count - 1, let event = try await other.next() {
          if event.event == nil { numbers.append(Int(event.data!.prefix { $0.isNumber })!) }
        }
        return numbers
      }()
      let client = try await RawClient.openStalledStream(port: server.port)
      try await server.wait(until: "streams", is: 2)
      for number in 0..<Self.count {
        try await server.published(Self.text(number))
      }
      #expect(try await texts.last == Self.count - 1)
      await client.close()
    }
  }
}
