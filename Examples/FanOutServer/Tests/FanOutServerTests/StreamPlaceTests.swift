import FanOutCore
import Multicast
import NIOCore
import Testing

/// The limit of the streams of a token.
@Suite(.timeLimit(.minutes(5))) struct StreamPlaceTests {
  /// A verifier of the tokens `SUBJECT.NUMBER`, and of `NUMBER` without a subject.
  private struct Subjects: TokenVerifier {
    func claims(of token: String) async -> TokenClaims? {
      let parts = token.split(separator: ".")
      return TokenClaims(
        publish: [], subscribe: [">"], subject: parts.count == 2 ? String(parts[0]) : nil,
        timeLeft: .seconds(3000))
    }
  }

  private static let fileToken = "a-token-of-the-file"

  private func settings(_ limit: Int? = 2) throws -> Settings {
    var settings = Settings()
    settings.tokens = AccessTokens(subscribe: try Tokens(Self.fileToken), jwt: Subjects())
    settings.maxStreamsPerToken = limit
    return settings
  }

  /// Asks for a stream.
  ///
  /// - Returns: the status, and the connection of the stream; of a refusal, all of the response.
  private func open(
    _ server: RunningServer, _ token: String, _ target: String = "/topics/news/events"
  ) async throws -> (status: Substring, client: RawClient, text: String) {
    let client = try await RawClient.connect(port: server.port)
    try await client.send(
      "GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n")
    let text = try await client.read(until: "\n\n")
    return (text.dropFirst("HTTP/1.1 ".count).prefix(3), client, text)
  }

  @Test func theTokensOfOneHolderCountTogether() async throws {
    try await RunningServer.with(settings()) { (server) async throws -> Void in
      let tokens = [
        "anna.1", "anna.2", "ben.1", "ben.1", "1", "1", "2", "anna", Self.fileToken, Self.fileToken,
      ]
      var streams: [RawClient] = []
      for token in tokens {
        let (status, client, text) = try await open(server, token)
        #expect(status == "200", "\(token): \(text)")
        streams.append(client)
      }
      for token in ["anna.1", "anna.3", "ben.1", "1", Self.fileToken] {
        for target in ["/topics/news/events", "/events?topic=%3E"] {
          let answer = try await server.request(
            "GET", target, [("Authorization", "Bearer \(token)")])
          #expect(answer.status == 429, "\(token)")
          #expect(answer.body.contains("this token has too many streams"))
          #expect(answer["retry-after"] == "1")
        }
        // Other requests need no place.
        let list = try await server.request(
          "GET", "/topics", [("Authorization", "Bearer \(token)")])
        #expect(list.status == 200)
      }
      for client in streams { await client.close() }
    }
  }

  @Test func aStreamThatEndsGivesItsPlaceBack() async throws {
    try await RunningServer.with(settings(1)) { (server) async throws -> Void in
      for _ in 0..<3 {
        let (status, client, text) = try await open(server, "anna.1")
        #expect(status == "200", "\(text)")
        // One that is refused for another reason takes none.
        let refused = try await server.request(
          "GET", "/events", [("Authorization", "Bearer ben.1")])
        #expect(refused.status == 400)
        await client.close()
        try await server.wait(until: "streams", is: 0)
      }
      let (status, client, text) = try await open(server, "ben.1")
      #expect(status == "200", "\(text)")
      await client.close()
    }
  }

  @Test func thereIsNoLimitByDefault() async throws {
    try await RunningServer.with(settings(nil)) { (server) async throws -> Void in
      for _ in 0..<20 {
        _ = try await server.stream(headers: [("Authorization", "Bearer anna.1")])
      }
    }
  }
}
