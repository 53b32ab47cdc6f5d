#if NATS
  import AsyncHTTPClient
  import Foundation
  import NIOPosix
  import Testing

  /// A broker that loses the consumer of a server, for example with the node that has it, while the
  /// connection stays open.
  @Suite(.timeLimit(.minutes(5))) struct ConsumerTests {
    @Test func aServerWhoseConsumerIsLostReadsOn() async throws {
      try await withServer { node, broker, log in
        let stream = try await node.seen()
        #expect(try await node.publish("1") == 1)
        try await node.wait(untilPublished: 1)
        try broker.deleteConsumers()
        #expect(try await node.publish("2") == 2)
        // Before the C library does.
        try await eventually { try log().contains("the consumer sends nothing") }
        try await node.wait(until: "ok")
        #expect(try await node.publish("end") == 3)
        #expect(try await stream.value.map(\.data) == ["1", "2", "end"])
      }
    }

    /// The C library makes a new one, which begins with the stream.
    @Test func aConsumerThatBeginsAgainIsReplaced() async throws {
      try await withServer(events: 3, deleted: 2) { node, broker, log in
        try broker.deleteConsumers()
        try await eventually { try log().contains("the consumer has begun again") }
        try await node.wait(until: "ok")
        let stream = try await node.seen(after: 3)
        #expect(try await node.publish("end") == 4)
        #expect(try await stream.value == [Node.Seen(id: 4, data: "end")])
        // It never had it.
        #expect(try !log().contains("the stream does not have"))
      }
    }

    /// - Parameters:
    ///   - events: the number of events that the stream has before the server starts.
    ///   - deleted: the one of them that has left.
    private func withServer(
      events: Int = 0, deleted: UInt64? = nil,
      _ body: (Node, Broker, () throws -> String) async throws -> Void
    ) async throws {
      let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
      let broker = try Broker()
      try await broker.start()
      let file = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
      try Data().write(to: file)
      let result: Result<Void, any Error>
      do {
        // Creates the stream.
        let first = try Node(broker, client)
        try await first.wait(until: "ok")
        first.kill()
        try broker.publish(count: events)
        if let deleted { try broker.delete(deleted) }
        let node = try Node(broker, client, output: FileHandle(forWritingTo: file))
        defer { node.kill() }
        try await node.wait(until: "ok")
        try await body(node, broker) { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await broker.remove()
      try? FileManager.default.removeItem(at: file)
      try await client.shutdown()
      try result.get()
    }
  }
#endif
