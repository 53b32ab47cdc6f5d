internal import ArgumentParser
internal import FoundationEssentials

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The command line.
@main
struct FanOutLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fan-out-load",
    abstract: "Opens event streams, publishes, and measures the deliveries and the server.",
    discussion: """
      Checks that each stream gets each event exactly once and in order. Otherwise exits with 1.
      """)

  @Option(help: "The server's host.") var host = "127.0.0.1"
  @Option(help: "The server's port.") var port = 8080
  @Option(help: "Path for publishing with POST, with {topic}.") var publishPath = "/topics/{topic}"
  @Option(help: "Path of an event stream, with {topic}.")
  var subscribePath = "/topics/{topic}/events"
  @Option(help: "Topic. Each run needs a new one, or one without history.")
  var topic = "load-\(getpid())"
  @Option(help: "Number of event streams.") var streams = 1000
  @Option(help: "Number of further streams that are opened and never read.") var stalled = 0
  @Option(help: "Events per second; 0: each as soon as the one before is acknowledged.")
  var rate = 100.0
  @Option(help: "Events that some stream may not have yet; 0: no limit.") var window = 0
  @Option(help: "Number of events; 0: measures only the memory of idle streams.") var events: Int?
  @Option(help: "Seconds to publish. (default: 10, unless --events is given)")
  var seconds: Double?
  @Option(help: "Events published first, one at a time, without measuring them.") var warmUp = 20
  @Option(help: "Bytes of an event's data.") var payload = 100
  @Option(help: "Event loops, each a thread, that read the streams.") var loops = 1
  @Option(name: [.customLong("pid")], help: "Process of the server to measure; repeatable.")
  var processes: [Int32] = []
  @Option(help: "Seconds without progress after which the run ends.") var patience = 10
  @Option(help: "JSON file for the results.") var json: String?

  func validate() throws {
    try require("--port", port, in: 1...65535)
    try require("--streams", streams, in: 1...100_000)
    try require("--stalled", stalled, in: 0...100_000)
    try require("--rate", rate, in: 0...1_000_000)
    try require("--window", window, in: 0...1_000_000)
    try require("--events", events ?? 0, in: 0...(Schedule.limit / 2))
    try require("--seconds", seconds ?? 1, in: 0.001...86_400)
    try require("--warm-up", warmUp, in: 1...100_000)
    try require("--payload", payload, in: Payload.minimumSize...1_000_000)
    try require("--loops", loops, in: 1...64)
    try require("--patience", patience, in: 1...3600)
    if events != nil && seconds != nil {
      throw ValidationError("use --events or --seconds, not both")
    }
    for (name, path) in [("--publish-path", publishPath), ("--subscribe-path", subscribePath)] {
      guard PathTemplate(path) != nil else {
        throw ValidationError("\(name): '\(path)' is not an absolute path with {topic}")
      }
    }
    guard PathTemplate("/\(topic){topic}") != nil, !topic.isEmpty else {
      throw ValidationError(
        "--topic: '\(topic)' is empty or has characters that a path cannot contain")
    }
  }

  private func require<Value: Comparable>(
    _ name: String, _ value: Value, in range: ClosedRange<Value>
  ) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(name): \(value) is not between \(range.lowerBound) and \(range.upperBound)")
    }
  }

  func run() async throws {
    let report = try await loadRun.run()
    print(report.text)
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      do {
        try encoder.encode(report).write(to: URL(filePath: json))
      } catch {
        throw LoadError("cannot write \(json)")
      }
    }
    guard report.complaints.isEmpty else {
      throw LoadError("not every stream received every event exactly once and in order")
    }
  }

  private var loadRun: LoadRun {
    let extent: Schedule.Extent = events.map { .events($0) } ?? .seconds(seconds ?? 10)
    return LoadRun(
      host: host, port: port,
      publishPath: PathTemplate(publishPath)?.path(topic: topic) ?? publishPath,
      subscribePath: PathTemplate(subscribePath)?.path(topic: topic) ?? subscribePath,
      streams: streams, stalledStreams: stalled, loops: loops, payloadBytes: payload,
      warmUp: warmUp,
      schedule: events == 0 ? nil : Schedule(rate: rate, window: window, extent: extent),
      processes: processes, patienceSeconds: patience)
  }
}
