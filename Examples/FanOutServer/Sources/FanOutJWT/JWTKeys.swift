public import FanOutCore
internal import JWTKit
internal import Multicast

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Keys that verify JSON web tokens (RFC 7519) with the algorithms HS256 and ES256.
///
/// The claim `fanout` of a token has the patterns of the topics for which it is valid:
/// `{"exp": 1795353000, "fanout": {"publish": ["news"], "subscribe": ["news", "orders.>"]}}`.
/// The claim `exp` is required. Tokens with the same claim `sub` are of one holder.
public struct JWTKeys: TokenVerifier {
  /// Why a text has no keys.
  public enum Refusal: Error, Hashable {
    case byteOrderMark
    case keySet
    case publicKey
    case tooShort
    case unknown
  }

  /// The minimum length of a secret for HS256 in bytes (RFC 7518, section 3.2).
  public static let minimumSecret = 32

  private let keys: Secret<JWTKeyCollection>
  /// That of all of them.
  private let algorithm: String

  /// - Parameter text: a JSON web key set, a public key in PEM for ES256, or a secret for HS256:
  ///   one line, of which white space at both ends is no part.
  public init(_ text: String) async throws(Refusal) {
    // As a part of a secret it would make each token one that is not valid.
    guard text.unicodeScalars.first != "\u{feff}" else { throw .byteOrderMark }
    let keys = JWTKeyCollection()
    let text = text.trimming(while: \.isWhitespace)
    if text.hasPrefix("{") {
      guard let set = try? JSONDecoder().decode(ES256KeySet.self, from: Data(text.utf8)),
        !set.keys.isEmpty, set.hasDistinctNames,
        (try? await keys.add(jwks: JWKS(keys: set.keys))) != nil
      else { throw .keySet }
      algorithm = "ES256"
    } else if text.hasPrefix("-----BEGIN") {
      guard let key = try? ES256PublicKey(pem: text) else { throw .publicKey }
      await keys.add(ecdsa: key)
      algorithm = "ES256"
    } else {
      guard text.utf8.count >= Self.minimumSecret else { throw .tooShort }
      // A public key with something before it is none: its readers could sign tokens with it.
      let isSecret = !["-----BEGIN", #""kty""#].contains { text.contains($0) }
      guard isSecret, !text.contains(where: \.isNewline) else { throw .unknown }
      await keys.add(hmac: HMACKey(from: text), digestAlgorithm: .sha256)
      algorithm = "HS256"
    }
    self.keys = Secret(keys)
  }
}

extension JWTKeys {
  /// - Returns: `nil` if the token is not valid now.
  public func claims(of token: String) async -> TokenClaims? {
    guard hasHeader(token),
      let payload = try? await keys.revealed.verify(token, as: Payload.self, iteratingKeys: true)
    else { return nil }
    return TokenClaims(
      publish: payload.fanout.publish ?? [], subscribe: payload.fanout.subscribe ?? [],
      subject: payload.sub?.text,
      // Some 30 years: more do not fit into a deadline.
      timeLeft: .seconds(min(payload.exp.value.timeIntervalSinceNow, 1e9)))
  }

  /// Whether the header of `token` names the algorithm, and nothing critical, which would be
  /// unknown here (RFC 7515, section 4.1.11).
  private func hasHeader(_ token: String) -> Bool {
    let parsed = try? DefaultJWTParser().parse(Array(token.utf8), as: Payload.self)
    return parsed?.header.alg == algorithm && parsed?.header.fields["crit"] == nil
  }

  private struct Payload: JWTPayload {
    struct Patterns: Codable {
      var publish: [TopicPattern]?
      var subscribe: [TopicPattern]?
    }

    /// A claim that others set, and that is ignored if it is no text.
    struct Subject: Codable {
      var text: String?

      init(from decoder: any Decoder) throws {
        text = try? decoder.singleValueContainer().decode(String.self)
      }
    }

    var sub: Subject?
    var exp: ExpirationClaim
    var nbf: NotBeforeClaim?
    var fanout: Patterns

    func verify(using algorithm: some JWTAlgorithm) async throws {
      try exp.verifyNotExpired()
      try nbf?.verifyNotBefore()
    }
  }
}

/// The keys of a JSON web key set that are for ES256. Others, which may be for other purposes, are
/// ignored, as RFC 7517 says in section 5.
private struct ES256KeySet: Decodable {
  private struct Key: Decodable {
    private enum CodingKeys: CodingKey { case kty, crv, alg, use }

    /// `nil`: it is not for ES256.
    var key: JWK?

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      func text(_ name: CodingKeys) -> String? { try? members.decode(String.self, forKey: name) }
      guard text(.kty) == "EC", text(.crv) == "P-256", text(.use) != "enc",
        !members.contains(.alg) || text(.alg) == "ES256"
      else { return }
      key = try JWK(from: decoder)
      key?.algorithm = .es256
    }
  }

  private enum CodingKeys: CodingKey { case keys }

  let keys: [JWK]

  /// Otherwise the last key of a name would be the only one.
  var hasDistinctNames: Bool { Set(keys.map { $0.keyIdentifier?.string }).count == keys.count }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    keys = try members.decode([Key].self, forKey: .keys).compactMap(\.key)
  }
}

extension JWTKeys.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .byteOrderMark: "it begins with a byte order mark: save it as UTF-8 without one"
    case .keySet:
      "it is not a JSON web key set with keys for ES256, each of them with a 'kid' of its own"
    case .publicKey: "it is not a public key for ES256 in PEM"
    case .tooShort: "a secret for HS256 has at least \(JWTKeys.minimumSecret) bytes"
    case .unknown: "it is no JSON web key set, no public key in PEM, and no secret in one line"
    }
  }
}

extension String {
  fileprivate func trimming(while isOutside: (Character) -> Bool) -> String {
    String(drop(while: isOutside).reversed().drop(while: isOutside).reversed())
  }
}
