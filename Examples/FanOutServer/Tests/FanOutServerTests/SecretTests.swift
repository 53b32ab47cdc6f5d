import FanOutCore
import Logging
import Testing

@Suite struct SecretTests {
  private static let text = "opensesame-0123456789"

  /// All printed forms of `value`.
  private func prints(of value: some Sendable) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    var printed = ""
    print(value, [value], Optional(value) as Any, ["key": value], to: &printed)
    let children = Mirror(reflecting: value).children.map { "\($0)" }
    return "\(value) \(String(describing: value)) \(String(reflecting: value)) "
      + "\(printed) \(dumped) \(children)"
  }

  @Test func aSecretIsNeverPrinted() {
    for text in [
      prints(of: Secret(Self.text)), prints(of: Secret([Self.text])),
      prints(of: Secret(Array(Self.text.utf8))),
      prints(of: Logger.MetadataValue.stringConvertible(Secret(Self.text))),
    ] {
      #expect(text.contains("<secret>"))
      #expect(!ServerOutput(text).contains(Self.text), "\(text)")
    }
    #expect(Mirror(reflecting: Secret(Self.text)).children.isEmpty)
    #expect(Secret(Self.text).revealed == Self.text)
  }

  @Test func tokensAreNeverPrinted() throws {
    var settings = Settings()
    settings.tokens = AccessTokens(publish: try Tokens(Self.text))
    for text in [
      prints(of: settings), prints(of: FanOutService(settings)),
      prints(of: settings.tokens), prints(of: settings.tokens.current),
      prints(of: try #require(settings.tokens.current.publish)),
    ] {
      #expect(text.contains("<secret>"))
      #expect(!ServerOutput(text).contains(Self.text), "\(text)")
    }
  }

  @Test(
    arguments: [
      ["--relay", "nats//user:\(text)@h"], ["--relay", "http://user:\(text)@h"],
      ["--relay", "nats://a,nats://user:\(text)@h/x"], ["--relay", "nats://a", "user:\(text)@h"],
      ["nats://user:\(text)@h"], ["--rely=nats://user:\(text)@h"], ["--port", "nats://\(text)@h"],
      ["--log-level", "nats://user:\(text)@h"],
    ])
  func anErrorDoesNotShowThePasswordOfAnAddress(_ arguments: [String]) throws {
    let server = try ServerProcess(arguments)
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    #expect(output.text.hasPrefix("fan-out-server: "), "\(output.text)")
    #expect(!output.contains(Self.text), "\(output.text)")
  }

  @Test(.timeLimit(.minutes(5)), arguments: Logger.Level.allCases)
  func noLevelOfTheLogShowsAToken(_ level: Logger.Level) async throws {
    let tokens = ["publisher-A7~0123456789", "subscriber-B8~0123456789", "another-C9~0123456789"]
    let files = try TokenFiles(publish: [tokens[0]], subscribe: [tokens[1], tokens[2]])
    defer { files.remove() }
    let server = try ServerProcess(
      ["--port", "0", "--log-level", level.rawValue, "--drain", "0"] + files.options)
    let port = try server.port()
    var candidates = tokens
    // A wrong token may be the right one of another server.
    let wrong = "mistaken-D0~0123456789"
    candidates.append(wrong)
    for authorization in candidates.map({ "Authorization: Bearer \($0)\r\n" }) + [
      "", "Authorization: \(tokens[0])\r\n", "Authorization: Basic \(tokens[0])\r\n",
      "Authorization: Bearer \(tokens[0])\u{1}\r\n", "Authorization : Bearer \(tokens[0])\r\n",
    ] {
      for line in [
        "POST /topics/a", "GET /topics/a/events", "GET /topics", "GET /metrics", "GET /health",
        "GET /topics/a/events?access_token=\(wrong)", "GET /\(wrong)", "POST /topics/\(wrong)/",
        "PUT /topics/a", "\(wrong) /",
      ] {
        let client = try await RawClient.connect(port: port)
        try? await client.send(
          "\(line) HTTP/1.1\r\nHost: localhost\r\n\(authorization)Content-Length: 1\r\n"
            + "Connection: close\r\n\r\nx")
        let isStream = line.hasPrefix("GET /topics/a/events")
        let answer = try await client.read(until: isStream ? "\r\n\r\n" : "\u{0}")
        #expect(answer.hasPrefix("HTTP/1.1 "), "\(line)")
        for token in candidates { #expect(!answer.contains(token), "\(answer)") }
        await client.close()
      }
    }
    server.terminate()
    let output = try server.wait()
    #expect(server.exitStatus == 0)
    #expect(output.isEmpty == (level > .info), "\(output.text)")
    for token in candidates { #expect(!output.contains(token), "\(output.text)") }
  }
}
