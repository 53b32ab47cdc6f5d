internal import NIOConcurrencyHelpers
internal import NIOCore

/// Counts the open connections of a server, in total and per address.
///
/// A few connections above the limit are accepted for requests of monitoring, so that a server whose
/// connections are all taken still answers them.
final class ConnectionPlaces: Sendable {
  /// What a new connection may do.
  enum Admission: Hashable, Sendable {
    case all
    /// All places are taken: the connection may ask for the state of the server.
    case monitoring
    /// Its address has as many connections as it may have.
    case none
  }

  /// Connections above the limit.
  static let reserved = 16

  private struct State {
    var count = 0
    var ofAddress: [[UInt8]: Int] = [:]
  }

  private let maximum: Int
  private let maximumPerAddress: Int
  private let state = NIOLockedValueBox(State())

  /// - Parameter maximumPerAddress: `nil`: no limit.
  init(_ maximum: Int, perAddress maximumPerAddress: Int?) {
    self.maximum = maximum
    self.maximumPerAddress = maximumPerAddress ?? .max
  }
}

extension ConnectionPlaces {
  /// Takes a place for a connection, if it gets one.
  ///
  /// - Returns: ``Admission/all`` if it has a place, which ``release(_:)`` must give back.
  func take(_ address: SocketAddress?) -> Admission {
    let key = Self.key(address)
    return state.withLockedValue { state in
      if let key, state.ofAddress[key, default: 0] >= maximumPerAddress { return .none }
      guard state.count < maximum else { return .monitoring }
      state.count += 1
      if let key { state.ofAddress[key, default: 0] += 1 }
      return .all
    }
  }

  /// Gives a place back.
  func release(_ address: SocketAddress?) {
    let key = Self.key(address)
    state.withLockedValue { state in
      state.count -= 1
      guard let key, let count = state.ofAddress[key] else { return }
      state.ofAddress[key] = count == 1 ? nil : count - 1
    }
  }

  /// The bytes of an IPv4 address, or the network of an IPv6 address: one client usually has 64 bits
  /// of addresses. `nil` for a Unix socket, which the clients of a proxy share.
  private static func key(_ address: SocketAddress?) -> [UInt8]? {
    switch address {
    case .v4(let address): withUnsafeBytes(of: address.address) { key($0[4..<8]) }
    case .v6(let address): withUnsafeBytes(of: address.address) { key($0[8..<24]) }
    default: nil
    }
  }

  /// - Parameter bytes: an address in the order of the network.
  private static func key(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    let bytes = Array(bytes)
    guard bytes.count > 4 else { return bytes }
    // An IPv4 address of a server that listens on an IPv6 address.
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12].allSatisfy { $0 == 0xff }
    return Array(isMapped ? bytes[12...] : bytes[..<8])
  }
}
