internal import NIOCore

/// The names and addresses by which a machine calls itself.
public enum Loopback {
  /// - Parameter host: without a port; an IPv6 address with or without brackets.
  public static func contains(_ host: some StringProtocol) -> Bool {
    if host.lowercased() == "localhost" { return true }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let text = String(isBracketed ? host.dropFirst().dropLast() : host[...])
    guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
    return address.ipAddress == "::1" || address.protocol == .inet && text.hasPrefix("127.")
  }
}
