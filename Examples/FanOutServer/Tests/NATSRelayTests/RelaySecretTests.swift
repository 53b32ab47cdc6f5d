#if NATS
  import AsyncHTTPClient
  import CNATS
  import FanOutCore
  import Foundation
  import Logging
  import NIOPosix
  import Testing

  @testable import NATSRelay

  /// The address of the broker in the output of a server.
  @Suite(.timeLimit(.minutes(5))) struct RelaySecretTests {
    private static let user = "relay-user-3141"
    private static let password = "opensesame-5926"
    private static let wrong = "mistaken-5358"

    @Test func settingsNeverShowAnAddress() throws {
      let url = "nats://\(Self.user):\(Self.password)@localhost"
      let settings = try RelaySettings(urls: Secret(url))
      var text = "\(settings) \(String(reflecting: settings))"
      dump(settings, to: &text)
      #expect(text.contains("<secret>"))
      for secret in [Self.user, Self.password] { #expect(!text.contains(secret), "\(text)") }
    }

    @Test(arguments: [
      "nats://Q1:Q2@Q3:Q4@", "nats://Q1:Q2:Q%41Q@", "tls://Q1@", "nats://Q1/Q2:Q3@", "Q1:Q2@",
    ])
    func brokerErrorsDoNotQuoteCredentials(_ start: String) throws {
      // The library quotes a port that is not a number.
      for host in ["localhost:Q1", "localhost:99999", ":1", "no host", "no-host.invalid"] {
        let error = try #require(throws: BrokerError.self) {
          _ = try Session(Secret(start + host), prefix: "p")
        }
        #expect(!error.description.contains("Q"))
      }
    }

    @Test(arguments: Logger.Level.allCases)
    func noLevelOfTheLogShowsThePassword(_ level: Logger.Level) async throws {
      let broker = try Broker(credentials: (Self.user, Self.password))
      try await broker.start()
      let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
      let result: Result<Void, any Error>
      do {
        let unused = "nats://\(Self.user):\(Self.password)@127.0.0.1:\(try freePort())"
        let noHost = "nats://\(Self.user):\(Self.password)@no-host.invalid"
        for url in [broker.url, broker.url(password: Self.wrong), "\(unused),\(noHost)"] {
          let text = try await output(of: url, broker, client, level)
          for secret in [Self.user, Self.password, Self.wrong] {
            #expect(!text.contains(secret), "\(text)")
          }
        }
        // The same with credentials in a file.
        for (password, isRight) in [(Self.password, true), (Self.wrong, false)] {
          let file = try CredentialsFile("\(Self.user):\(password)\n")
          defer { file.remove() }
          let url = "nats://127.0.0.1:\(broker.port)"
          let text = try await output(
            of: url, broker, client, level, options: ["--relay-credentials", file.path],
            connects: isRight)
          for secret in [Self.user, Self.password, Self.wrong] {
            #expect(!text.contains(secret), "\(text)")
          }
        }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await broker.remove()
      try await client.shutdown()
      try result.get()
    }

    /// Runs a server until it has connected to the broker, or has failed to.
    private func output(
      of url: String, _ broker: Broker, _ client: HTTPClient, _ level: Logger.Level,
      options: [String] = [], connects: Bool? = nil
    ) async throws -> String {
      let connects = connects ?? (url == broker.url)
      let file = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
      try Data().write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let node = try Node(
        broker, client, urls: url, options: ["--log-level", level.rawValue] + options,
        output: FileHandle(forWritingTo: file))
      defer { node.kill() }
      let text = { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
      try await node.wait(until: connects ? "ok" : "disconnected")
      let id = try await node.publish("an event")
      #expect((id != nil) == connects)
      if !connects, level <= .warning {
        try await eventually { try text().contains("the broker is not available: ") }
      }
      node.terminate()
      node.wait()
      return try text()
    }
  }
#endif
