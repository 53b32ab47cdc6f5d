#if NATS
  public import FanOutCore
  internal import FoundationEssentials

  /// The broker through which servers share their topics, and their common prefix.
  public struct RelaySettings: Sendable {
    /// Why settings are not valid.
    public enum Refusal: Error, Hashable {
      /// An address, by its position in the list: it may contain a password.
      case url(number: Int)
      case prefix(String)
      /// An address that has a user although there are other credentials.
      case twoCredentials(number: Int)
    }

    /// Addresses of one cluster: any of them is sufficient. Each may contain a password.
    let urls: [Secret<String>]
    /// The name of the stream. Its subjects are the prefix, a dot, and the name of a topic.
    let prefix: String
    let credentials: RelayCredentials?
    /// The size of a stream that this server creates.
    let streamBytes: Int64

    /// - Parameters:
    ///   - urls: like `nats://host:port`, separated by commas; each may contain a user and a
    ///     password.
    ///   - prefix: servers with the same prefix share their topics.
    ///   - credentials: for addresses without a user.
    ///   - streamBytes: the size of a stream that this server creates.
    public init(
      urls: Secret<String>, prefix: String = "fanout", credentials: RelayCredentials? = nil,
      streamBytes: Int = 1 << 30
    ) throws(Refusal) {
      let list = urls.revealed.split(separator: ",", omittingEmptySubsequences: false).map(
        String.init)
      for (index, url) in list.enumerated() {
        guard let parsed = URL(string: url), ["nats", "tls"].contains(parsed.scheme),
          parsed.host()?.isEmpty == false, (1...65_535).contains(parsed.port ?? 4222),
          parsed.path().isEmpty, parsed.query() == nil, parsed.fragment() == nil
        else { throw .url(number: index + 1) }
        guard credentials == nil || parsed.user() == nil else {
          throw .twoCredentials(number: index + 1)
        }
      }
      let isAllowed = prefix.utf8.allSatisfy { byte in
        byte.isASCIIAlphanumeric || "-_".utf8.contains(byte)
      }
      guard isAllowed, (1...64).contains(prefix.utf8.count) else { throw .prefix(prefix) }
      self.urls = list.map { Secret($0) }
      self.prefix = prefix
      self.credentials = credentials
      self.streamBytes = Int64(streamBytes)
    }
  }

  extension RelaySettings.Refusal: CustomStringConvertible {
    public var description: String {
      switch self {
      case .url(let number): "address \(number) is not like nats://host:port"
      case .prefix(let prefix):
        "'\(prefix)' is not 1 to 64 letters, digits, '-' and '_'"
      case .twoCredentials(let number):
        "address \(number) has a user, but the credentials are in a file"
      }
    }
  }
#endif
