internal import HTTPTypes

extension ConnectionPlace {
  /// Refuses what a connection without a place may not ask for.
  func check(_ target: RequestTarget) throws(RequestError) {
    switch admission {
    case .all: break
    case .monitoring:
      guard let route = Route(target.path.prefix { $0 != "?" }), route.isMonitoring else {
        throw RequestError(
          .serviceUnavailable, "all connections of the server are taken", [.retryAfter: "1"])
      }
    case .none:
      throw RequestError(
        .tooManyRequests, "this address has too many connections", [.retryAfter: "1"])
    }
  }
}
