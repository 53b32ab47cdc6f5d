import CoreMetrics
import Foundation
import InMemoryLogging
import Logging
import Multicast
import NIOCore
import Testing

@testable import FanOutCore

/// What the server tells about its hub: in the metrics, in the log, and as a list of receivers.
@Suite(.timeLimit(.minutes(5))) struct HubReportTests {
  private var settings: Settings {
    var settings = Settings()
    settings.bufferLimit = 4
    settings.historyEvents = 1
    settings.heartbeat = .hours(1)
    settings.reportInterval = .milliseconds(20)
    return settings
  }

  /// Publishes more than the kernel's buffers hold.
  private func fill(_ publish: (String) async throws -> Void) async throws {
    for _ in 0..<150 { try await publish(String(repeating: "x", count: 50_000)) }
  }

  /// Polls the metrics until they have `line`. The time limit of the suite ends it.
  private func wait(_ server: RunningServer, for line: String) async throws {
    while try await !server.request("GET", "/metrics").body.contains("\n\(line)\n") {
      try Task.checkCancellation()
    }
  }

  @Test func theMetricsHaveTheFiguresOfTheHub() async throws {
    try await RunningServer.with(settings) { server in
      try await wait(server, for: #"multicast_receivers{hub="fan-out"} 0"#)
      let other = try await server.stream("other")
      try await wait(server, for: #"multicast_receivers{hub="fan-out"} 1"#)
      let client = try await RawClient.openStalledStream(port: server.port)
      try await wait(server, for: #"multicast_receivers{hub="fan-out"} 2"#)
      try await fill { try await server.published($0) }
      let dropped = try await server.metric("dropped_total")
      #expect(dropped > 0)
      try await wait(server, for: #"multicast_dropped_total{hub="fan-out"} \#(dropped)"#)
      let pending = try await server.metric("pending_events")
      #expect(pending > 0)
      try await wait(server, for: #"multicast_pending{hub="fan-out"} \#(pending)"#)
      await client.close()
      try await wait(server, for: #"multicast_receivers{hub="fan-out"} 1"#)
      try await wait(server, for: #"multicast_pending{hub="fan-out"} 0"#)
      try await wait(server, for: #"multicast_dropped_total{hub="fan-out"} \#(dropped)"#)
      withExtendedLifetime(other) {}
    }
  }

  @Test func dropsAreLogged() async throws {
    let server = try ServerProcess([
      "--port", "0", "--drain", "0", "--history", "1", "--buffer", "4", "--log-level", "warning",
    ])
    let port = try server.port()
    let stalled = try await RawClient.openStalledStream(port: port)
    try await ProcessClient.with { http in
      let client = ProcessClient(port: port, client: http)
      while try await !client.request("/health").1.contains(#""streams":1"#) {
        try Task.checkCancellation()
      }
      try await fill { _ = try await client.publish($0) }
    }
    // The last report is at the shutdown.
    server.terminate()
    let text = try server.wait().text
    #expect(text.contains("events were dropped or refused"), "\(text)")
    #expect(text.contains("hub=fan-out"), "\(text)")
    await stalled.close()
  }

  @Test func moreStreamsThanConnectionsAreLoggedOnce() throws {
    let log = InMemoryLogHandler()
    var settings = settings
    settings.hubs = HubDirectory()
    settings.logger = Logger(label: "test") { _ in log }
    settings.maxConnections = 1
    settings.maxStreamTopics = 2
    let topics = Topics(settings)
    topics.warnOfLeaks()
    var streams: [TopicSubscription] = []
    func subscribe(_ name: Substring) throws {
      streams.append(
        try topics.subscribe(to: .topic(try Topic(name, limit: 9)), after: nil, .dropOldest) {})
    }
    for _ in 1...2 {
      for name in ["a", "b"] as [Substring] { try subscribe(name) }
    }
    #expect(log.entries.isEmpty)
    for _ in 1...9 { try subscribe("a") }
    #expect(log.entries.count == 1)
    let entry = try #require(log.entries.first)
    #expect(entry.level == .warning)
    #expect(entry.metadata["hub"] == "fan-out")
    #expect(entry.metadata["count"] == "5")
    #expect(entry.metadata["site"]?.description.hasPrefix("FanOutCore/Topics.swift:") == true)
  }
}

/// The list of hubs.
@Suite(.timeLimit(.minutes(5))) struct HubListTests {
  private struct Page: Decodable {
    struct Hub: Decodable {
      var name: String
      var receiverCount: Int
      var pending: Int
      var dropped: Int
      var receivers: [Receiver]
    }

    struct Receiver: Decodable {
      var line: String
      var kind: String
      var topic: String?
      var age: Double?
      var delivered: Int?
      var pending: Int?
    }

    var hubs: [Hub]
  }

  private func page(_ text: String) throws -> [Page.Hub] {
    try JSONDecoder().decode(Page.self, from: Data(text.utf8)).hubs
  }

  @Test func itHasTheStreams() async throws {
    try await RunningServer.with { server in
      var streams = [try await server.stream("a"), try await server.stream("b")]
      try await server.published("x", to: "a")
      #expect(try await streams[0].data(1) == ["x"])
      let hubs = try page(try await server.request("GET", "/hubs").body)
      try #require(hubs.count == 1)
      #expect(hubs[0].name == "fan-out")
      #expect(hubs[0].receiverCount == 2)
      #expect(Set(hubs[0].receivers.map(\.topic)) == ["a", "b"])
      for receiver in hubs[0].receivers {
        #expect(receiver.line.hasPrefix("FanOutCore/Topics.swift:"))
        #expect(receiver.kind == "reader")
        #expect(receiver.age.map { $0 >= 0 } == true)
        #expect(receiver.delivered == (receiver.topic == "a" ? 1 : 0))
      }
      let first = try page(try await server.request("GET", "/hubs?limit=1").body)
      #expect(first[0].receiverCount == 2)
      #expect(first[0].receivers.count == 1)
    }
  }

  @Test(arguments: ["limit=0", "limit=1001", "limit=x", "x=1", "limit=1&limit=2"])
  func anInvalidQueryIsRefused(_ query: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/hubs?\(query)")
      #expect(answer.status == 400)
    }
  }

  /// A hub with a reader of each of several topics, for which more events wait the later it comes.
  private func hub() -> (TopicHub<String, Int>, [TopicReader<Int>]) {
    let hub = TopicHub<String, Int>(retention: .last(9), name: "chat")
    let readers = ["a", "b", "b.c"].map { hub.reader(for: [$0], from: .live) {} }
    for (index, topic) in ["a", "b", "b.c"].enumerated() {
      for event in 0..<index { hub.send(event, to: topic) }
    }
    return (hub, readers)
  }

  @Test func theSlowestAreFirst() throws {
    let (hub, readers) = hub()
    let found = try page(HubsRequest(limit: 2).page(of: [hub.snapshot]))
    #expect(found[0].receiverCount == 3)
    #expect(found[0].receivers.map(\.topic) == ["b.c", "b"])
    #expect(found[0].receivers.map(\.pending) == [2, 1])
    #expect(found[0].pending == 3)
    withExtendedLifetime(readers) {}
  }

  @Test func aTokenForSomeTopicsShowsNoOthers() throws {
    let (hub, readers) = hub()
    // Patterns of subscribers could name other topics.
    let pattern = hub.reader(matching: ["b.*", "secret"], from: .live) {}
    let all = hub.allTopics.subscribe { _ in }
    let grant = Grant.patterns(["b.>"], until: .distantFuture)
    let found = try page(HubsRequest().page(of: [hub.snapshot], grant))
    #expect(found[0].receivers.map(\.topic) == ["b.c"])
    #expect(found[0].receiverCount == 1)
    #expect(found[0].pending == 2)
    withExtendedLifetime((readers, pattern, all)) {}
  }
}

/// Figures of swift-metrics in the Prometheus text format.
@Suite struct MetricSeriesTests {
  @Test func theyAreWritten() {
    let series = MetricSeries(help: ["a_total": "Some events."])
    #expect(series.text == "")
    let first = Counter(label: "a_total", dimensions: [("hub", "x\"\\\ny")], factory: series)
    let second = Counter(
      label: "a_total", dimensions: [("hub", "b"), ("line", "c")], factory: series)
    let gauge = Gauge(label: "b", factory: series)
    first.increment(by: 2)
    first.increment()
    gauge.record(7)
    gauge.record(0.25)
    #expect(
      series.text == """
        # HELP a_total Some events.
        # TYPE a_total counter
        a_total{hub="b",line="c"} 0
        a_total{hub="x\\"\\\\\\ny"} 3
        # TYPE b gauge
        b 0.25

        """)
    first.destroy()
    gauge.destroy()
    #expect(series.text.contains("a_total{hub=\"b\""))
    #expect(!series.text.contains("\\ny"))
    #expect(!series.text.contains("b 0.25"))
    second.destroy()
    #expect(series.text == "")
  }
}
