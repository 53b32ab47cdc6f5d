internal import NIOCore

/// An IPv4 or IPv6 address as a number. One of IPv4 is as a server that listens on an IPv6 address
/// has it: `::ffff:10.0.0.1`.
struct NetworkAddress: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  /// - Returns: `nil` if it is that of a Unix socket.
  init?(_ address: SocketAddress?) {
    switch address {
    case .v4(let address):
      high = 0
      low = withUnsafeBytes(of: address.address) { 0xffff << 32 | Self.number($0[4..<8]) }
    case .v6(let address):
      (high, low) = withUnsafeBytes(of: address.address) {
        (Self.number($0[8..<16]), Self.number($0[16..<24]))
      }
    default: return nil
    }
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// - Parameter bytes: a number in the order of the network.
  private static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

  /// The address, or the network of one of IPv6: one client usually has 64 bits of addresses.
  var client: NetworkAddress { isIPv4 ? self : network(64) }

  /// The first bits of the 128, and zeros.
  func network(_ bits: Int) -> NetworkAddress {
    NetworkAddress(
      high: high & ~(UInt64.max >> UInt64(min(bits, 64))),
      low: low & ~(UInt64.max >> UInt64(max(bits - 64, 0))))
  }
}
