import FanOutCore
import NIOCore
import Testing

/// Requests that are nearly right get an answer that says so, and the server goes on.
@Suite(.timeLimit(.minutes(5))) struct FuzzTests {
  private static let connections = 1000
  private static let workers = 16
  /// A failure of the server's own, a 500, is not among them.
  private static let statuses: Set<Substring> = [
    "100", "200", "204", "400", "401", "403", "404", "405", "413", "431", "503",
  ]

  private func ask(_ server: RunningServer, _ bytes: [UInt8]) async throws {
    let client = try await RawClient.connect(port: server.port)
    // The server may close before it has everything.
    try? await client.send(bytes)
    await client.finish()
    // A stream that has begun goes on: a client may say that it has said everything and yet listen.
    let answer = try await client.read(until: "retry: ")
    await client.close()
    guard !answer.isEmpty else { return }
    let status = answer.dropFirst("HTTP/1.1 ".count).prefix(3)
    #expect(
      answer.hasPrefix("HTTP/1.1 ") && Self.statuses.contains(status),
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
      // Nobody is left behind.
      try await server.wait(until: "streams", is: 0)
    }
  }
}
