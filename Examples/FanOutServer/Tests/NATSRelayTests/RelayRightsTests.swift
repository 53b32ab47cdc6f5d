#if NATS
  import AsyncHTTPClient
  import Foundation
  import NIOPosix
  import Testing

  /// The rights that the README gives the user of a relay.
  @Suite(.timeLimit(.minutes(5))) struct RelayRightsTests {
    @Test func aServerRunsWithTheRightsOfTheREADME() async throws {
      try await Self.withServer(rights: try Self.rights(), history: 1) { node, _ in
        try await node.wait(until: "ok")
        for number in 1...3 {
          #expect(try await node.publish("\(number)") == UInt64(2 * number - 1))
          #expect(try await node.publish("other", to: "other") == UInt64(2 * number))
        }
        #expect(try await node.publish("end") == 7)
        try await node.wait(untilPublished: 7)
        // The first ones are not in memory. The topic "none" has no event.
        for topics in ["topic=news", "topic=news&topic=none", "topic=%3E"] {
          let ids = try await node.seen(query: topics, after: 1).value.map(\.id)
          #expect(ids == (topics.hasSuffix("E") ? [2, 3, 4, 5, 6, 7] : [3, 5, 7]))
        }
      }
    }

    @Test(arguments: ["STREAM.INFO.fanout", "STREAM.CREATE.fanout", "CONSUMER.CREATE.fanout"])
    func aMissingRightIsNamedInTheLog(_ subject: String) async throws {
      let rights = try Self.rights()
      let fewer = rights.replacing("$JS.API.\(subject)\"", with: "none\"")
      try #require(fewer != rights)
      try await Self.withServer(rights: fewer, history: 100) { node, output in
        try await eventually {
          // It cannot deliver, so it takes no publications.
          if let (_, health) = await node.request("/health") {
            #expect(health.contains(#""status":"disconnected""#))
          }
          return try output().contains(
            "the broker does not permit what the relay needs of the stream 'fanout'")
        }
      }
    }

    /// The configuration of the broker that the README shows, with a password.
    private static func rights() throws -> String {
      let readme = URL(filePath: #filePath).appending(path: "../../../README.md").standardized
      let text = try String(contentsOf: readme, encoding: .utf8)
      let block = try #require(
        text.split(separator: "```").first { $0.contains("\nauthorization {") })
      let lines = block.split(separator: "\n").drop { !$0.hasPrefix("authorization") }
      return lines.joined(separator: "\n").replacing("$FANOUT_PASSWORD", with: "opensesame-5926")
    }

    private static func withServer(
      rights: String, history: Int,
      _ body: (Node, () throws -> String) async throws -> Void
    ) async throws {
      let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
      let broker = try Broker(authorization: rights)
      try await broker.start()
      let credentials = try CredentialsFile("fan-out:opensesame-5926\n")
      let file = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
      try Data().write(to: file)
      let node = try Node(
        broker, client,
        options: [
          "--relay-credentials", credentials.path, "--history", "\(history)", "--buffer",
          "\(history)",
        ],
        output: FileHandle(forWritingTo: file))
      let result: Result<Void, any Error>
      do {
        try await body(node) { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      node.kill()
      await broker.remove()
      credentials.remove()
      try? FileManager.default.removeItem(at: file)
      try await client.shutdown()
      try result.get()
    }
  }
#endif
