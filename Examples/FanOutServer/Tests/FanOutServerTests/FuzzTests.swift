import FanOutCore
import NIOCore
import Testing

/// Slightly wrong requests get a response with a proper status, and the server keeps working.
@Suite(.timeLimit(.minutes(5))) struct FuzzTests {
  private static let connections = 1000
  private static let workers = 16
  /// Without 500, which would be a fault of the server.
  private static let statuses: Set<Substring> = [
    "100", "200", "204", "400", "401", "403", "404", "405", "413", "415", "421", "431", "501",
    "503",
    "505",
  ]

  private func ask(_ server: RunningServer, _ bytes: [UInt8]) async throws {
    let client = try await RawClient.connect(port: server.port)
    // The server may close before it has read all bytes.
    try? await client.send(bytes)
    await client.finish()
    // `retry:` is the start of a stream.
    let answer = try await client.read(until: "retry: ")
    await client.close()
    guard !answer.isEmpty else { return }
    let status = answer.dropFirst("HTTP/1.1 ".count).prefix(3)
    #expect(
      answer.hasPrefix("HTTP/1.") && Self.statuses.contains(status),
      "\(String(decoding: bytes, as: UTF8.self).debugDescription): \(answer)")
  }

  @Test func nothingInARequestStopsTheServer() async throws {
    let seed = SplitMix64.runSeed
    var settings = Settings()
    settings.historyEvents = 4
    settings.heartbeat = .milliseconds(200)
    try await RunningServer.with(settings) { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<Self.workers {
          group.addTask {
            var mutation = Mutation(seed: seed &+ UInt64(worker))
            for _ in 0..<Self.connections / Self.workers { try await ask(server, mutation.next()) }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await server.request("GET", "/health").status == 200)
      // No stream remains.
      try await server.wait(until: "streams", is: 0)
    }
  }
}
