import FanOutCore
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct LingerTests {
  @Test func lingeringDropsNothingForAFastReader() async throws {
    var settings = Settings()
    settings.linger = .seconds(2)
    settings.bufferLimit = 64
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      try await server.published("first")
      let count = 10 * 64
      try await withThrowingTaskGroup(of: Void.self) { group in
        for publisher in 0..<8 {
          group.addTask {
            for number in 0..<count / 8 { try await server.published("\(publisher)/\(number)") }
          }
        }
        try await group.waitForAll()
      }
      var received: Set<String> = []
      for _ in 0...count {
        let event = try #require(await stream.next())
        try #require(event.event == nil, "\(event)")
        if let data = event.data { received.insert(data) }
      }
      #expect(received.count == count + 1)
      #expect(try await server.metric("dropped_total") == 0)
    }
  }
}
