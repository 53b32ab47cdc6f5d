import Testing

@testable import FanOutLoad

@Suite(.timeLimit(.minutes(3))) struct LoadRunTests {
  private func report(
    _ fault: FaultyServer.Fault, rate: Double = 0, streams: Int = 200, stalledStreams: Int = 0
  ) async throws -> Report {
    let server = try await FaultyServer.start(fault)
    let run = LoadRun(
      host: "127.0.0.1", port: server.port, publishPath: "/topics/a",
      subscribePath: "/topics/a/events", streams: streams, stalledStreams: stalledStreams, loops: 2,
      payloadBytes: 64, warmUp: 20,
      schedule: Schedule(rate: rate, window: 8, extent: .events(100)), processes: [],
      // A loaded machine may make no progress for seconds.
      patienceSeconds: [.streamClosed, .streamEnded].contains(fault) ? 15 : 40)
    do {
      let report = try await run.run()
      try await server.stop()
      return report
    } catch {
      try await server.stop()
      throw error
    }
  }

  @Test func countsEachEventOnEachStream() async throws {
    let report = try await report(.none)
    #expect(report.complaints.isEmpty)
    #expect(report.published == 100)
    #expect(report.deliveries == 100 * 200)
    #expect(report.p50Milliseconds > 0)
    #expect(report.p50Milliseconds <= report.p99Milliseconds)
    #expect(report.p99Milliseconds <= report.maxMilliseconds)
  }

  @Test func oneStreamNeedsOneLoop() async throws {
    let report = try await report(.none, streams: 1)
    #expect(report.complaints.isEmpty && report.deliveries == 100)
  }

  @Test func keepsTheRate() async throws {
    let report = try await report(.none, rate: 500)
    // The last of 100 events is due after 99 intervals.
    #expect(report.seconds >= 0.198)
    #expect(report.deliveries == 100 * 200)
  }

  @Test func stalledStreamsAreOpenedAndNotCounted() async throws {
    let report = try await report(.none, stalledStreams: 3)
    #expect(report.complaints.isEmpty)
    #expect(report.stalledStreams == 3)
    #expect(report.deliveries == 100 * 200)
  }

  @Test(arguments: [
    (FaultyServer.Fault.missing, ["1 events missing on 1 streams"]),
    (.doubled, ["1 events repeated or out of order"]),
    (.swapped, ["1 events missing on 1 streams", "1 events repeated or out of order"]),
    (
      .truncated,
      ["1 events missing on 1 streams", "1 events that were not published like this"]
    ),
    (
      .streamClosed,
      [
        // The window allows seven more events, none of which reaches all streams.
        "8 events missing on 1 streams",
        "1 streams failed, the first one: the server closed a stream",
        "ended after 15 s without progress",
      ]
    ),
    (
      .streamEnded,
      [
        "8 events missing on 1 streams",
        "1 streams failed, the first one: the server ended a stream",
        "ended after 15 s without progress",
      ]
    ),
  ])
  func reportsAFault(fault: FaultyServer.Fault, complaints: [String]) async throws {
    let report = try await report(fault)
    #expect(report.complaints == complaints)
  }

  private func run(host: String) -> LoadRun {
    LoadRun(
      host: host, port: 1, publishPath: "/a", subscribePath: "/a", streams: 2, stalledStreams: 0,
      loops: 1, payloadBytes: 64, warmUp: 1, schedule: nil, processes: [], patienceSeconds: 1)
  }

  @Test(arguments: [("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
  func theHostIsAsInAURL(_ host: String, _ field: String) {
    #expect(run(host: host).hostField == field)
  }

  @Test func aServerThatIsNotThereIsAnErrorInOneLine() async throws {
    let run = run(host: "127.0.0.1")
    let error = await #expect(throws: LoadError.self) { try await run.run() }
    #expect(error?.description.contains("\n") == false)
  }
}
