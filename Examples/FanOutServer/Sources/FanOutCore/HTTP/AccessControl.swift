internal import HTTPTypes

/// Checks tokens, hosts and origins of requests.
struct AccessControl: Sendable {
  let tokens: AccessTokens
  let allowedOrigins: Set<String>
  let isLoopbackOnly: Bool

  /// Refuses a request that does not have one of `tokens`.
  func check(_ headers: HTTPFields, _ tokens: Tokens?) throws(RequestError) {
    guard let tokens else { return }
    let values = headers[values: .authorization]
    guard let value = values.first else {
      throw RequestError(.unauthorized, "this needs a bearer token", [.wwwAuthenticate: "Bearer"])
    }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw RequestError(
        .unauthorized, "the Authorization is not 'Bearer' and a token",
        [.wwwAuthenticate: #"Bearer error="invalid_request""#])
    }
    guard tokens.contain(parts[1]) else {
      throw RequestError(
        .unauthorized, "the token is not valid",
        [.wwwAuthenticate: #"Bearer error="invalid_token""#])
    }
  }

  /// Refuses a request for a host that is not a loopback name, unless both publishing and subscribing
  /// need tokens.
  ///
  /// Protects against DNS rebinding: an attacker's name that resolves to this machine, so that the
  /// browser treats the attacker's page as one of this server.
  func checkHost(_ request: HTTPRequest) throws(RequestError) {
    guard isLoopbackOnly, let host = request.authority else { return }
    let tokens = tokens.current
    guard tokens.publish == nil || tokens.subscribe == nil else { return }
    let port = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 }
    guard Loopback.contains(host[..<(port ?? host.endIndex)]) else {
      throw RequestError(
        .misdirectedRequest, "this server is for localhost: others need tokens or --allow-anonymous"
      )
    }
  }

  /// Refuses a request from a page of another origin, unless that origin is allowed: such a page must
  /// not make its visitors publish.
  ///
  /// - Returns: the origin, if it is one of `allowedOrigins`.
  func checkOrigin(_ request: HTTPRequest) throws(RequestError) -> String? {
    let origins = request.headerFields[values: .origin]
    guard let origin = origins.first else { return nil }
    guard origins.count == 1 else { throw .badRequest("there is more than one Origin") }
    if allowedOrigins.contains(origin) { return origin }
    let host = request.authority ?? ""
    guard !host.isEmpty, origin == "http://\(host)" || origin == "https://\(host)" else {
      throw RequestError(.forbidden, "pages of this origin are not allowed here")
    }
    return nil
  }
}
