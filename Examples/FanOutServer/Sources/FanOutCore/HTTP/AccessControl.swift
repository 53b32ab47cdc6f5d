internal import HTTPTypes
internal import NIOCore

/// Checks tokens, hosts and origins of requests.
struct AccessControl: Sendable {
  let tokens: AccessTokens
  let allowedOrigins: Set<String>
  let isLoopbackOnly: Bool

  /// A token in a query, which others may log, is valid for no longer than this.
  private static let shortLife = Duration.seconds(600)

  /// What a token is for.
  enum Action {
    case publish
    case subscribe
  }

  /// What the token of a request allows.
  enum Decision {
    /// The topics for which it is valid, and who has it; `nil` if no token is needed.
    case granted(Grant, TokenHolder?)
    /// A JSON web token that must be verified.
    case unverified(String, any TokenVerifier, isInQuery: Bool)
  }

  /// Refuses a request without a valid token, if one is needed.
  ///
  /// A token file's tokens count only in the header field `Authorization`. A JSON web token may
  /// also be in the query, if it is valid for a short time, or, if there is none, in the cookie
  /// `access_token`.
  ///
  /// - Parameter token: the one of the query.
  /// - Returns: the topics for which the token is valid.
  func authorize(
    _ headers: HTTPFields, query token: String? = nil, _ action: Action
  ) async throws(RequestError) -> Grant {
    try await check(headers, query: token, action).grant
  }

  /// As ``authorize(_:query:_:)``.
  ///
  /// - Returns: also who has the token; `nil` if none is needed.
  func check(
    _ headers: HTTPFields, query token: String? = nil, _ action: Action
  ) async throws(RequestError) -> (grant: Grant, holder: TokenHolder?) {
    try await verify(decide(headers, query: token, action), action)
  }

  /// - Returns: as ``check(_:query:_:)``.
  func verify(
    _ decision: Decision, _ action: Action
  ) async throws(RequestError) -> (grant: Grant, holder: TokenHolder?) {
    switch decision {
    case .granted(let grant, let holder): (grant, holder)
    case .unverified(let token, let keys, let isInQuery):
      try await grant(token, action, keys, isInQuery: isInQuery)
    }
  }

  /// As ``check(_:query:_:)``, but does not verify JSON web tokens, which takes long.
  func decide(
    _ headers: HTTPFields, query token: String? = nil, _ action: Action
  ) throws(RequestError) -> Decision {
    let current = tokens.current
    let tokens =
      switch action {
      case .publish: current.publish
      case .subscribe: current.subscribe
      }
    guard tokens != nil || current.jwt != nil else { return .granted(.all, nil) }
    if let bearer = try bearer(headers) {
      if let tokens, tokens.contain(bearer) {
        return .granted(.all, TokenHolder(token: String(bearer)))
      }
      guard let keys = current.jwt else { throw Self.invalidToken }
      return .unverified(String(bearer), keys, isInQuery: false)
    }
    if let keys = current.jwt, let token { return .unverified(token, keys, isInQuery: true) }
    // Last, because browsers send it with any request.
    if let keys = current.jwt, let cookie = Self.cookie(headers) {
      return .unverified(cookie, keys, isInQuery: false)
    }
    throw RequestError(
      .unauthorized, "this needs a bearer token", [.wwwAuthenticate: "Bearer"])
  }

  private static var invalidToken: RequestError {
    RequestError(
      .unauthorized, "the token is not valid",
      [.wwwAuthenticate: #"Bearer error="invalid_token""#])
  }

  private func grant(
    _ token: String, _ action: Action, _ keys: any TokenVerifier, isInQuery: Bool
  ) async throws(RequestError) -> (grant: Grant, holder: TokenHolder?) {
    guard let claims = await keys.claims(of: token) else { throw Self.invalidToken }
    guard !isInQuery || claims.timeLeft <= Self.shortLife else {
      throw RequestError(
        .unauthorized, "a token in a query must expire within 10 minutes",
        [.wwwAuthenticate: #"Bearer error="invalid_token""#])
    }
    let end = NIODeadline.now() + TimeAmount(claims.timeLeft)
    let patterns =
      switch action {
      case .publish: claims.publish
      case .subscribe: claims.subscribe
      }
    // Its holder may write the signature in other ways, which are valid too.
    let signed = token[..<(token.lastIndex(of: ".") ?? token.endIndex)]
    let holder = TokenHolder(token: String(signed), subject: claims.subject)
    return (.patterns(patterns, until: end), holder)
  }

  /// The token of the header field; `nil` without the field.
  private func bearer(_ headers: HTTPFields) throws(RequestError) -> Substring? {
    let values = headers[values: .authorization]
    guard let value = values.first else { return nil }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw RequestError(
        .unauthorized, "the Authorization is not 'Bearer' and a token",
        [.wwwAuthenticate: #"Bearer error="invalid_request""#])
    }
    // Several spaces may separate them (RFC 9110, section 11.4).
    return parts[1].drop { $0 == " " }
  }

  private static func cookie(_ headers: HTTPFields) -> String? {
    for line in headers[values: .cookie] {
      for pair in line.split(separator: ";") {
        let pair = pair.drop { $0 == " " }
        if pair.hasPrefix("access_token=") { return String(pair.dropFirst("access_token=".count)) }
      }
    }
    return nil
  }

  /// Refuses a request for a host that is not a loopback name, unless both publishing and
  /// subscribing need tokens.
  ///
  /// Protects against DNS rebinding: an attacker's name that resolves to this machine, so that the
  /// browser treats the attacker's page as one of this server.
  func checkHost(_ request: HTTPRequest) throws(RequestError) {
    guard isLoopbackOnly, let host = request.authority else { return }
    guard !tokens.current.areRequired else { return }
    // A colon inside brackets is one of the address.
    let end = host.utf8.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
    let port = end.flatMap { host.utf8[$0] == UInt8(ascii: ":") ? $0 : nil }
    guard Loopback.contains(host[..<(port ?? host.endIndex)]) else {
      throw RequestError(
        .misdirectedRequest, "this server is for localhost: others need tokens or --allow-anonymous"
      )
    }
  }

  /// Refuses a request from a page of another origin, unless that origin is allowed: such a page
  /// must not make its visitors publish.
  ///
  /// - Returns: the origin, if it is one of `allowedOrigins`.
  func checkOrigin(_ request: HTTPRequest) throws(RequestError) -> String? {
    let origins = request.headerFields[values: .origin]
    guard let origin = origins.first else { return nil }
    guard origins.count == 1 else { throw .badRequest("there is more than one Origin") }
    if allowedOrigins.contains(origin) { return origin }
    let host = request.authority ?? ""
    // A proxy may have ended TLS.
    let isSame =
      origin == "https://\(host)" || request.scheme != "https" && origin == "http://\(host)"
    guard !host.isEmpty, isSame else {
      throw RequestError(.forbidden, "pages of this origin are not allowed here")
    }
    return nil
  }
}
