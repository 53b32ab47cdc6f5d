#if NATS
  import AsyncHTTPClient
  import Foundation
  import NIOPosix
  import Testing

  /// A broker whose storage is smaller than the stream.
  @Suite(.timeLimit(.minutes(5))) struct StreamLimitTests {
    @Test(arguments: [false, true])
    func aStreamThatCannotBeCreatedIsNamedWithTheReason(isBrokerLate: Bool) async throws {
      let broker = try Broker(storage: 64 << 20)
      if !isBrokerLate { try await broker.start() }
      let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
      let file = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
      try Data().write(to: file)
      let result: Result<Void, any Error>
      do {
        try await check(broker, isBrokerLate, client, output: file)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      try? FileManager.default.removeItem(at: file)
      await broker.remove()
      try await client.shutdown()
      try result.get()
    }

    private func check(
      _ broker: Broker, _ isBrokerLate: Bool, _ client: HTTPClient, output file: URL
    ) async throws {
      let text = { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
      let large = try Node(broker, client, output: FileHandle(forWritingTo: file))
      defer { large.kill() }
      if isBrokerLate {
        try await eventually { try text().contains("the broker is not available: ") }
        try await broker.start()
      }
      try await eventually { try text().contains("the stream 'fanout' cannot be created: ") }
      #expect(try text().contains("insufficient storage resources available"))
      #expect(try text().contains("it has 1073741824 bytes: use a smaller --relay-bytes"))
      #expect(try !text().contains("the broker is not available: the stream"))
      let (status, body) = try #require(await large.request("/topics/news", publish: "x"))
      #expect(status == 503)
      #expect(body.contains("the stream of the broker is not available"), "\(body)")
      let small = try Node(broker, client, options: ["--relay-bytes", "\(16 << 20)"])
      defer { small.kill() }
      try await small.wait(until: "ok")
      #expect(try await small.publish("x") == 1)
      // The stream exists now: the other server uses it unchanged.
      try await large.wait(until: "ok")
    }
  }
#endif
