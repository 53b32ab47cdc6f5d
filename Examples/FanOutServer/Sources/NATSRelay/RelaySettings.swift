#if NATS
  internal import FoundationEssentials

  /// Which broker servers share their topics through, and as what.
  public struct RelaySettings: Sendable {
    /// Why a relay is refused.
    public enum Refusal: Error, Hashable {
      case url(String)
      case prefix(String)
    }

    let url: String
    /// The name of the stream. Its subjects are this, a dot, and the name of a topic.
    let prefix: String

    /// - Parameters:
    ///   - url: as `nats://host:port`; a user and a password may be in it.
    ///   - prefix: servers with the same one share their topics.
    public init(url: String, prefix: String = "fanout") throws(Refusal) {
      guard let parsed = URL(string: url), ["nats", "tls"].contains(parsed.scheme),
        parsed.host()?.isEmpty == false, parsed.path().isEmpty
      else { throw .url(url) }
      let isAllowed = prefix.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
          || Character(UnicodeScalar(byte)).isASCIIAlphanumeric
      }
      guard isAllowed, (1...64).contains(prefix.utf8.count) else { throw .prefix(prefix) }
      self.url = url
      self.prefix = prefix
    }
  }

  extension RelaySettings.Refusal: CustomStringConvertible {
    public var description: String {
      switch self {
      case .url(let url): "'\(url)' is not like nats://host:port"
      case .prefix(let prefix):
        "'\(prefix)' is not 1 to 64 letters, digits, '-' and '_'"
      }
    }
  }

  extension Character {
    fileprivate var isASCIIAlphanumeric: Bool { isASCII && (isLetter || isNumber) }
  }
#endif
