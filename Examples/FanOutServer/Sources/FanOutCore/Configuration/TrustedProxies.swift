internal import HTTPTypes
internal import NIOCore

/// The proxies that say in `X-Forwarded-For` whose requests they pass on.
public struct TrustedProxies: Sendable {
  private struct Network {
    var address: NetworkAddress
    /// The number of its bits, of 128.
    var bits: Int
  }

  private var networks: [Network] = []
  /// Whether proxies on a Unix socket are trusted.
  private var hasUnixSocket = false

  /// Trusts none.
  public init() {}

  /// - Parameter texts: addresses; networks such as `10.0.0.0/8` or `fd00::/8`; `unix:` for proxies
  ///   on the Unix socket.
  public init(_ texts: some Sequence<some StringProtocol>) throws(Refusal) {
    for text in texts {
      if text == "unix:" {
        hasUnixSocket = true
      } else if let network = Self.network(text) {
        networks.append(network)
      } else {
        throw Refusal(text: String(text))
      }
    }
  }

  /// A text is neither an address nor a network.
  public struct Refusal: Error, CustomStringConvertible {
    let text: String

    public var description: String {
      "'\(text)' is not an address, a network such as 10.0.0.0/8, or 'unix:'"
    }
  }

  private static func network(_ text: some StringProtocol) -> Network? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard
      let address = NetworkAddress(try? SocketAddress(ipAddress: String(parts[0]), port: 0))
    else { return nil }
    // Those of IPv4 are at the end of 128 bits.
    let prefix = address.isIPv4 && !parts[0].contains(":") ? 96 : 0
    guard parts.count == 2 else { return Network(address: address, bits: 128) }
    guard let bits = Int(digits: String(parts[1])), bits <= 128 - prefix else { return nil }
    return Network(address: address.network(prefix + bits), bits: prefix + bits)
  }
}

extension TrustedProxies {
  /// Whether `address` is one of theirs.
  func contains(_ address: SocketAddress?) -> Bool {
    if case .unixDomainSocket = address { return hasUnixSocket }
    guard !networks.isEmpty, let address = NetworkAddress(address) else { return false }
    return networks.contains { address.network($0.bits) == $0.address }
  }

  /// The address of the client of a request: that of its connection, or, if that is one of the
  /// proxies, the last one in `fields` that is not.
  ///
  /// What is before it the client may have written itself. So is what is before an element that is
  /// not an address: then, and if all are proxies, it is the address that was found last.
  ///
  /// - Parameter fields: the values of `X-Forwarded-For`.
  func client(
    of peer: SocketAddress?, _ fields: @autoclosure () -> [String]
  ) -> SocketAddress? {
    guard contains(peer) else { return peer }
    var client = peer
    for field in fields().reversed() {
      for element in field.split(separator: ",").reversed() {
        let text = element.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed()
        guard !text.isEmpty else { continue }
        guard let address = Self.address(String(text)) else { return client }
        client = address
        guard contains(address) else { return client }
      }
    }
    return client
  }

  private static func isSpace(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  /// - Parameter text: an address, with or without a port; one of IPv6 with or without brackets.
  private static func address(_ text: String) -> SocketAddress? {
    if let address = try? SocketAddress(ipAddress: text, port: 0) { return address }
    let isBracketed = text.hasPrefix("[")
    let parts = (isBracketed ? text.dropFirst() : text[...])
      .split(separator: isBracketed ? "]" : ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let port = isBracketed ? parts[1].trimmingPrefix(":") : parts[1]
    let hasPort = port.count < parts[1].count || !isBracketed
    guard hasPort ? Int(digits: port) != nil : port.isEmpty else { return nil }
    let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0)
    return address?.protocol == (isBracketed ? .inet6 : .inet) ? address : nil
  }
}

extension HTTPField.Name {
  static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
}
