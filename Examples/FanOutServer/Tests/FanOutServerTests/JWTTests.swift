import AsyncHTTPClient
import FanOutCore
import FanOutJWT
import Foundation
import JWTKit
import Multicast
import NIOCore
import Testing

/// JSON web tokens.
@Suite(.timeLimit(.minutes(5))) struct JWTTests {
  private static let secret = "a-secret-of-thirty-two-bytes-0123456789"
  /// A key pair for these tests only.
  private static let pair = ES256PrivateKey()

  private struct Claims: JWTPayload {
    struct Topics: Codable {
      var publish: [String]?
      var subscribe: [String]?
    }

    var sub: String?
    var exp: Double?
    var nbf: Double?
    var fanout: Topics?

    func verify(using algorithm: some JWTAlgorithm) {}
  }

  private func claims(
    _ seconds: Double = 300, publish: [String]? = nil, subscribe: [String]? = nil
  ) -> Claims {
    Claims(
      exp: Date.now.timeIntervalSince1970 + seconds,
      fanout: Claims.Topics(publish: publish, subscribe: subscribe))
  }

  private func signed(
    _ claims: Claims, secret: String = secret, kid: String? = nil
  ) async throws -> String {
    let keys = JWTKeyCollection()
    await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    return try await keys.sign(claims)
  }

  private func withServer(
    _ keys: String = secret, tokens: Tokens? = nil,
    _ body: @escaping @Sendable (RunningServer) async throws -> Void
  ) async throws {
    var settings = Settings()
    settings.tokens = AccessTokens(publish: tokens, jwt: try await JWTKeys(keys))
    try await RunningServer.with(settings) { try await body($0) }
  }

  private func bearer(_ token: String) -> [(String, String)] {
    [("Authorization", "Bearer \(token)")]
  }

  private func publish(
    _ server: RunningServer, _ topic: String, _ headers: [(String, String)]
  ) async throws -> Int {
    try await server.request(
      "POST", "/topics/\(topic)", headers, body: .bytes(ByteBuffer(string: "x"))
    ).status
  }

  @Test func aTokenIsForItsTopics() async throws {
    let token = try await signed(
      claims(publish: ["news", "a.*"], subscribe: ["news", "orders.>"]))
    try await withServer { (server) async throws -> Void in
      for (topic, isAllowed) in [
        ("news", true), ("a.b", true), ("a", false), ("a.b.c", false), ("orders.x", false),
        ("newspaper", false),
      ] {
        let status = try await publish(server, topic, bearer(token))
        #expect(status == (isAllowed ? 200 : 403), "\(topic)")
      }
      for (topic, isAllowed) in [
        ("news", true), ("orders.x.y", true), ("orders", false), ("a.b", false),
      ] {
        guard !isAllowed else {
          _ = try await server.stream(topic, headers: bearer(token))
          continue
        }
        let answer = try await server.request("GET", "/topics/\(topic)/events", bearer(token))
        #expect(answer.status == 403, "\(topic)")
        #expect(answer["www-authenticate"] == #"Bearer error="insufficient_scope""#)
      }
      // Without a claim for an action, there is nothing that it may do.
      let none = bearer(try await signed(claims()))
      #expect(try await publish(server, "news", none) == 403)
    }
  }

  @Test func aStreamOfSeveralTopicsIsForThoseOfTheTokenAlone() async throws {
    let token = try await signed(
      claims(publish: [">"], subscribe: ["news", "a.*", "b.>", "c.*.x"]))
    try await withServer { (server) async throws -> Void in
      let allowed = [
        "topic=news", "topic=a.x&topic=news", "topic=a.*", "topic=b.%3E", "topic=b.*",
        "topic=b.x.%3E&topic=a.y", "topic=c.*.x", "topic=c.d.x", "topic=b.*.c.%3E",
      ]
      for query in allowed {
        _ = try await server.events(query, headers: bearer(token))
      }
      let refused = [
        "topic=other", "topic=news&topic=other", "topic=*", "topic=%3E", "topic=a.%3E",
        "topic=a.*.x", "topic=b", "topic=*.x", "topic=a.*&topic=*.x", "topic=c.*", "topic=c.%3E",
        "topic=c.*.*", "topic=news.%3E", "topic=news.*",
      ]
      for query in refused {
        let answer = try await server.request("GET", "/events?\(query)", bearer(token))
        #expect(answer.status == 403, "\(query)")
        #expect(answer["www-authenticate"]?.contains("insufficient_scope") == true)
      }
      #expect(try await server.request("GET", "/events?topic=news").status == 401)
      // Nothing of another topic arrives.
      var stream = try await server.events("topic=a.*&topic=news", headers: bearer(token))
      for topic in ["other", "a.x.y", "a", "a.x"] {
        #expect(try await publish(server, topic, bearer(token)) == 200)
      }
      #expect(try await stream.next()?.data?.hasPrefix(#"{"topic":"a.x","#) == true)
      // The number of streams of a topic is for those who may subscribe to it.
      #expect(try await server.request("GET", "/topics/a.x", bearer(token)).status == 200)
      #expect(try await server.request("GET", "/topics/x", bearer(token)).status == 403)
      #expect(try await server.request("GET", "/topics/a.x").status == 401)
    }
  }

  @Test func aBatchIsForTheTopicsOfTheTokenAlone() async throws {
    let token = try await signed(claims(publish: ["a.*"], subscribe: [">"]))
    try await withServer { (server) async throws -> Void in
      func batch(_ topics: String...) -> String {
        topics.map { #"{"topic":"\#($0)","data":"x"}"# }.joined(separator: "\n")
      }
      let type = "application/x-ndjson"
      let good = try await server.publish(batch: batch("a.x", "a.y"), type, bearer(token))
      #expect(good.status == 200)
      let bad = try await server.publish(batch: batch("a.x", "b", "a.y"), type, bearer(token))
      #expect(bad.status == 403 && bad.body.contains("line 2: the token is not for this topic"))
      #expect(try await server.publish(batch: batch("a.x")).status == 401)
      #expect(try await server.metric("published_total") == 2)
    }
  }

  @Test func theListHasOnlyTheTopicsOfTheToken() async throws {
    let publisher = try await signed(claims(publish: [">"]))
    let reader = try await signed(claims(subscribe: ["b.>"]))
    try await withServer { (server) async throws -> Void in
      for topic in ["a", "b.x", "b.y", "c"] {
        #expect(try await publish(server, topic, bearer(publisher)) == 200)
      }
      let body = try await server.request("GET", "/topics?limit=1", bearer(reader)).body
      #expect(body.contains("\"topic\":\"b.x\"") && body.contains("\"next\":\"b.x\""), "\(body)")
      let rest = try await server.request("GET", "/topics?after=b.x", bearer(reader)).body
      #expect(rest.contains("\"topic\":\"b.y\"") && !rest.contains("\"c\""), "\(rest)")
      let none = try await server.request("GET", "/topics", bearer(publisher)).body
      #expect(none == "{\"topics\":[]}\n")
    }
  }

  @Test func aTokenMayBeInACookieOrInTheQuery() async throws {
    let token = try await signed(claims(subscribe: ["news"]))
    let long = try await signed(claims(86_400, subscribe: ["news"]))
    try await withServer { (server) async throws -> Void in
      _ = try await server.stream(headers: [("Cookie", "x=y; access_token=\(long)")])
      let old = [("Cookie", "access_token=old")]
      _ = try await server.stream(query: "?access_token=\(token)&policy=latest", headers: old)
      // One in a query may be in a log, so it must expire soon.
      let answer = try await server.request("GET", "/topics/news/events?access_token=\(long)")
      #expect(answer.status == 401)
      #expect(answer.body.contains("must expire within 10 minutes"))
      // A wrong token in the header field counts before the others.
      let wrong = try await server.request(
        "GET", "/topics/news/events?access_token=\(token)", bearer("wrong"))
      #expect(wrong.status == 401)
    }
  }

  @Test func theTimeOfATokenEndsWithItsClaim() async throws {
    let keys = try await JWTKeys(Self.secret)
    for (seconds, limit) in [(300.0, 300.0), (1e15, 1e9)] {
      let token = try await signed(claims(seconds, subscribe: ["news"]))
      let left = try #require(await keys.claims(of: token)).timeLeft
      #expect(left > .zero && left <= .seconds(limit), "\(left)")
    }
  }

  @Test func theSubjectIsTheHolder() async throws {
    let keys = try await JWTKeys(Self.secret)
    for subject in [nil, "anna"] {
      var claims = claims(subscribe: ["news"])
      claims.sub = subject
      #expect(try #require(await keys.claims(of: try await signed(claims))).subject == subject)
    }
  }

  @Test func aSignatureInOtherCharactersIsOfTheSameToken() async throws {
    let token = try await signed(claims(subscribe: ["a"]))
    // Its last character has two bits that do not count.
    let others = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let other = token.dropLast() + [others[try #require(token.last.flatMap(others.firstIndex)) ^ 1]]
    var settings = Settings()
    settings.tokens = AccessTokens(jwt: try await JWTKeys(Self.secret))
    settings.maxStreamsPerToken = 1
    try await RunningServer.with(settings) { (server) async throws -> Void in
      var clients: [RawClient] = []
      for text in [token, token, "\(token)=", String(other)] {
        let client = try await RawClient.connect(port: server.port)
        clients.append(client)
        try await client.send(
          "GET /topics/a/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(text)\r\n\r\n")
        let status = clients.count == 1 ? 200 : 429
        #expect(try await client.read(until: "\r\n").hasPrefix("HTTP/1.1 \(status) "))
      }
      for client in clients { await client.close() }
    }
  }

  @Test func aTokenThatIsNotValidIsRefused() async throws {
    var early = claims(publish: [">"])
    early.nbf = Date.now.timeIntervalSince1970 + 100
    var endless = claims(publish: [">"])
    endless.exp = nil
    var other = claims(publish: [">"])
    other.fanout = nil
    let good = try await signed(claims(publish: [">"]))
    let parts = good.split(separator: ".")
    let none = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
      .replacing("=", with: "")
    let es256 = JWTKeyCollection()
    await es256.add(ecdsa: Self.pair)
    let tokens = [
      try await signed(claims(-1, publish: [">"])), try await signed(early),
      try await signed(endless), try await signed(other),
      try await signed(claims(publish: [">"]), secret: Self.secret + "x"),
      try await signed(claims(publish: ["a..b"])), try await es256.sign(claims(publish: [">"])),
      "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1]).",
      String(good.dropLast(2)), "a.b.c", "..", ".", Self.secret,
    ]
    try await withServer { (server) async throws -> Void in
      for token in tokens {
        #expect(try await publish(server, "news", bearer(token)) == 401, "\(token)")
      }
      #expect(try await publish(server, "news", []) == 401)
      #expect(try await publish(server, "news", bearer(good)) == 200)
      // Only a stream and a list may have it in the query.
      let answer = try await server.request("POST", "/topics/news?access_token=\(good)")
      #expect(answer.status == 401)
    }
  }

  @Test func aPublicKeyVerifiesES256() async throws {
    let keys = JWTKeyCollection()
    await keys.add(ecdsa: Self.pair)
    let token = try await keys.sign(claims(publish: [">"]))
    let pem = Self.pair.publicKey.pemRepresentation
    // The public key is not a secret for HS256.
    let forged = try await signed(claims(publish: [">"]), secret: pem)
    try await withServer(pem) { (server) async throws -> Void in
      #expect(try await publish(server, "news", bearer(token)) == 200)
      #expect(try await publish(server, "news", bearer(forged)) == 401)
    }
    let parameters = try #require(Self.pair.parameters)
    let set = """
      {"keys":[{"kty":"EC","kid":"one","alg":"ES256","crv":"P-256","x":"\(parameters.x)",\
      "y":"\(parameters.y)"}]}
      """
    let named = try await keys.sign(claims(publish: [">"]), kid: "one")
    try await withServer(set) { (server) async throws -> Void in
      for token in [token, named] {
        #expect(try await publish(server, "news", bearer(token)) == 200)
      }
      #expect(try await publish(server, "news", bearer(forged)) == 401)
    }
  }

  @Test func tokenFilesCountBeside() async throws {
    let token = try await signed(claims(publish: ["news"]))
    try await withServer(tokens: try Tokens("publisher-0123456789")) {
      (server) async throws -> Void in
      #expect(try await publish(server, "other", bearer("publisher-0123456789")) == 200)
      #expect(try await publish(server, "news", bearer(token)) == 200)
      #expect(try await publish(server, "other", bearer(token)) == 403)
      // A token of a file is for the header field alone.
      let cookie = [("Cookie", "access_token=publisher-0123456789")]
      #expect(try await publish(server, "news", cookie) == 401)
    }
  }

  @Test(arguments: [
    ("short", JWTKeys.Refusal.tooShort), ("", .tooShort), ("{}", .keySet),
    (#"{"keys":[]}"#, .keySet), (#"{"keys":[{"kty":"EC"}]}"#, .keySet),
    ("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----", .publicKey),
  ])
  func aFileWithoutKeysIsRefused(_ text: String, _ refusal: JWTKeys.Refusal) async {
    await #expect(throws: refusal) { try await JWTKeys(text) }
  }

  @Test func keysAreNeverPrinted() async throws {
    let keys = try await JWTKeys(Self.secret)
    var text = "\(keys) \(String(reflecting: keys))"
    dump(AccessTokens.Value(jwt: keys), to: &text)
    #expect(text.contains("<secret>"))
    #expect(!ServerOutput(text).contains(Self.secret))
  }

  /// The program reads the file, again at SIGHUP, and no log shows a token.
  @Test func theProgramTakesAFile() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
    try Data("\(Self.secret)\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try ServerProcess([
      "--port", "0", "--jwt-key-file", file.path(), "--log-level", "trace", "--access-log", "json",
      "--drain", "0",
    ])
    let port = try server.port()
    let other = Self.secret + "-new"
    let tokens = [
      try await signed(claims(subscribe: [">"])),
      try await signed(claims(subscribe: [">"]), secret: other),
    ]
    func status(_ token: String) async throws -> Substring {
      let client = try await RawClient.connect(port: port)
      try await client.send(
        "GET /topics?access_token=\(token) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      )
      return try await client.readAll().dropFirst("HTTP/1.1 ".count).prefix(3)
    }
    #expect(try await status(tokens[0]) == "200")
    #expect(try await status(tokens[1]) == "401")
    try Data("short".utf8).write(to: file, options: .atomic)
    server.send(SIGHUP)
    try server.waitForErrors(containing: "a secret for HS256 has at least 32 bytes")
    #expect(try await status(tokens[0]) == "200")
    try Data(other.utf8).write(to: file, options: .atomic)
    server.send(SIGHUP)
    try server.waitForErrors(containing: "read the files of tokens and certificates again")
    #expect(try await status(tokens[0]) == "401")
    #expect(try await status(tokens[1]) == "200")
    server.terminate()
    let output = try server.wait()
    for secret in tokens + [Self.secret] { #expect(!output.contains(secret), "\(output.text)") }
  }
}
