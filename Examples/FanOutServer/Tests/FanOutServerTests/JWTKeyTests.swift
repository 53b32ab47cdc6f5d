import FanOutJWT
import Foundation
import JWTKit
import Testing

/// What RFC 7515 and RFC 7517 ask of who verifies JSON web tokens.
@Suite struct JWTKeyTests {
  private static let secret = "a-secret-of-thirty-two-bytes-0123456789"
  /// A key pair for these tests only.
  private static let pair = ES256PrivateKey()

  private struct Claims: JWTPayload {
    var exp = Date.now.timeIntervalSince1970 + 300
    var fanout = ["publish": [">"]]

    func verify(using algorithm: some JWTAlgorithm) {}
  }

  /// A key of a set.
  private func key(_ fields: String) throws -> String {
    let parameters = try #require(Self.pair.parameters)
    return #"{"kty":"EC","crv":"P-256","x":"\#(parameters.x)","y":"\#(parameters.y)",\#(fields)}"#
  }

  /// Whether the key pair's tokens are valid with a set of `keys`.
  private func verifies(_ keys: String...) async throws -> Bool {
    let set = try await JWTKeys(#"{"keys":[\#(keys.joined(separator: ","))]}"#)
    let collection = JWTKeyCollection()
    await collection.add(ecdsa: Self.pair)
    return await set.claims(of: try await collection.sign(Claims())) != nil
  }

  /// Even if the secret is right.
  @Test func theHeaderNamesTheAlgorithmAndNothingUnknownThatIsCritical() async throws {
    let keys = try await JWTKeys(Self.secret)
    let collection = JWTKeyCollection()
    await collection.add(hmac: HMACKey(from: Self.secret), digestAlgorithm: .sha256)
    let headers: [(JWTHeader, Bool)] = [
      (["kid": .string("x"), "x": .string("y")], true), (["alg": .string("HS256")], true),
      (["alg": .string("none")], false), (["alg": .string("HS384")], false),
      (["alg": .string("ES256")], false),
      (["crit": .array([.string("x")]), "x": .string("y")], false),
    ]
    for (header, isValid) in headers {
      let token = try await collection.sign(Claims(), header: header)
      #expect(await (keys.claims(of: token) != nil) == isValid, "\(header)")
    }
  }

  /// Sets have keys for other purposes too.
  @Test(arguments: [
    #"{"kty":"AKP","kid":"x","alg":"ML-DSA-44","pub":"x"}"#,
    #"{"kty":"oct","kid":"x","k":"eHh4"}"#,
    #"{"kty":"OKP","kid":"x","crv":"X25519","x":"x"}"#,
    #"{"kty":"EC","kid":"x","crv":"P-384","alg":"ES384","x":"x","y":"y"}"#,
    #"{"kty":"EC","kid":"x","crv":"P-256","alg":"ECDH-ES","use":"enc","x":"x","y":"y"}"#,
    #"{"kty":"RSA","kid":"x","alg":"RS256","n":"AQAB","e":"AQAB"}"#, #"{"kid":"x"}"#,
  ])
  func keysThatAreNotForTheServerAreIgnored(_ other: String) async throws {
    let key = try key(#""kid":"one","alg":"ES256""#)
    #expect(try await verifies(other, key))
    #expect(try await verifies(key, other))
    await #expect(throws: JWTKeys.Refusal.keySet) { try await JWTKeys(#"{"keys":[\#(other)]}"#) }
  }

  @Test func aKeyNeedsNoAlgorithm() async throws {
    #expect(try await verifies(key(#""kid":"one""#)))
  }

  @Test func aKeyForTheServerMustBeValid() async throws {
    let good = try key(#""kid":"one","alg":"ES256""#)
    let bad = [
      try key(#""alg":"ES256""#), try key(#""kid":"one""#),
      #"{"kty":"EC","kid":"x","crv":"P-256","alg":"ES256","x":"x","y":"y"}"#,
    ]
    for key in bad {
      await #expect(throws: JWTKeys.Refusal.keySet, "\(key)") { try await verifies(good, key) }
    }
  }

  /// A client that knows the public key could sign tokens with the text of the file.
  @Test(arguments: ["# The key\n", " \u{feff}", "\"", "Bag Attributes: <Empty>\n"])
  func aPublicKeyIsNoSecret(_ before: String) async throws {
    let set = #"{"keys":[\#(try key(#""kid":"one""#))]}"#
    for text in [Self.pair.publicKey.pemRepresentation, set] {
      await #expect(throws: JWTKeys.Refusal.unknown, "\(text)") {
        try await JWTKeys(before + text)
      }
    }
    await #expect(throws: JWTKeys.Refusal.unknown) {
      try await JWTKeys("[\(try key(#""kid":"one""#))]")
    }
  }

  /// Some editors write it. No token would have a secret that begins with it.
  @Test func aByteOrderMarkIsRefused() async throws {
    let set = #"{"keys":[\#(try key(#""kid":"one""#))]}"#
    for text in [Self.secret, Self.pair.publicKey.pemRepresentation, set] {
      await #expect(throws: JWTKeys.Refusal.byteOrderMark) { try await JWTKeys("\u{feff}" + text) }
      _ = try await JWTKeys(text)
    }
  }

  @Test func aKeyForEncryptionVerifiesNothing() async throws {
    let key = try key(#""kid":"one","use":"enc""#)
    await #expect(throws: JWTKeys.Refusal.keySet) { try await verifies(key) }
  }
}
