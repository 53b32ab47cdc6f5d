import ChildProcess
import FanOutCore
import Foundation
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct VanishedClientTests {
  #if os(Linux)
    @Test(
      .enabled(
        if: Cable.isPossible,
        "needs root with the right to make network namespaces, and the programs ip and curl"),
      arguments: [false, true], [false, true])
    func aClientThatVanishesIsForgotten(_ isBusy: Bool, isSecure: Bool) throws {
      let cable = try Cable(isSecure: isSecure)
      defer { cable.remove() }
      let folder = try TemporaryFolder()
      let options = isSecure ? try TestCertificate.first.write(into: folder) : []
      let server = try cable.startServer(
        [
          "--host", "198.18.0.1", "--port", "8080", "--allow-anonymous", "--heartbeat", "0.5",
        ] + options)
      defer { server.kill() }
      func metric(_ name: String) throws -> Int {
        if isBusy { _ = try cable.request("/topics/news", "--data", "x") }
        let lines = try cable.request("/metrics").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("fanout_\(name) ") }
        return try #require(line.flatMap { Int($0.split(separator: " ")[1]) })
      }
      _ = try metric("streams")
      let (client, out) = try cable.startClient("/topics/news/events")
      defer { client.kill() }
      #expect(!out.fileHandleForReading.availableData.isEmpty)
      // A connected client keeps its stream.
      let begin = ContinuousClock.now
      while begin.duration(to: .now) < .seconds(2) { #expect(try metric("streams") == 1) }
      try cable.pull()
      let pulled = ContinuousClock.now
      while try metric("streams") != 0 { try Task.checkCancellation() }
      // The kernel alone would take a quarter of an hour.
      #expect(pulled.duration(to: .now) < .seconds(60))
      #expect(client.isRunning)
    }
  #endif

  @Test func aClientThatDoesNotReadStays() async throws {
    var settings = Settings()
    settings.bufferLimit = 2
    settings.heartbeat = .milliseconds(100)
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.openStalledStream(port: server.port)
      try await server.wait(until: "streams", is: 1)
      let text = String(repeating: "x", count: 60_000)
      while try await server.metric("dropped_total") == 0 { try await server.published(text) }
      var quiet = try await server.stream("quiet")
      var heartbeats = 0
      while heartbeats < 40, let block = try await quiet.nextBlock() {
        if block.isComment { heartbeats += 1 }
      }
      #expect(heartbeats == 40)
      #expect(try await server.metric("streams") == 2)
      // The client still gets its waiting events.
      _ = try await client.read(until: "event: missed")
      await client.close()
    }
  }
}
