internal import NIOConcurrencyHelpers
internal import NIOCore

/// Counts the open connections of a server, in total and per address.
///
/// A few connections above the limit are accepted for requests of monitoring, so that a server
/// whose connections are all taken still answers them.
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
  /// How many of them may be connections that are refused because of their address: the others are
  /// for monitoring.
  static let reservedForRefusals = 8

  private struct State {
    var count = 0
    var refusals = 0
    var ofAddress: [NetworkAddress: Int] = [:]
  }

  private let maximum: Int
  private let maximumPerAddress: Int
  private let proxies: TrustedProxies
  private let state = NIOLockedValueBox(State())

  /// - Parameters:
  ///   - maximumPerAddress: `nil`: no limit.
  ///   - proxies: have no limit.
  init(
    _ maximum: Int, perAddress maximumPerAddress: Int?, proxies: TrustedProxies = TrustedProxies()
  ) {
    self.proxies = proxies
    self.maximum = maximum
    self.maximumPerAddress = maximumPerAddress ?? .max
  }
}

extension ConnectionPlaces {
  /// Takes a place for a connection, if it gets one.
  ///
  /// - Returns: ``Admission/all`` if it has a place, which ``release(_:)`` must give back.
  func take(_ address: SocketAddress?) -> Admission {
    let key = client(address)
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
    let key = client(address)
    state.withLockedValue { state in
      state.count -= 1
      guard let key, let count = state.ofAddress[key] else { return }
      state.ofAddress[key] = count == 1 ? nil : count - 1
    }
  }

  /// Counts a connection whose address has too many: it may stay until it is answered.
  ///
  /// - Returns: whether it may stay, which ``endRefusal()`` must give back.
  func beginRefusal() -> Bool {
    state.withLockedValue { state in
      guard state.refusals < Self.reservedForRefusals else { return false }
      state.refusals += 1
      return true
    }
  }

  func endRefusal() { state.withLockedValue { $0.refusals -= 1 } }

  /// - Returns: `nil` for an address that clients share: of a Unix socket, or of a proxy.
  private func client(_ address: SocketAddress?) -> NetworkAddress? {
    proxies.contains(address) ? nil : NetworkAddress(address)?.client
  }
}
