internal import HTTPTypes
internal import NIOCore

extension WholeResponse {
  /// The server's page. The policy allows its inline scripts and styles, and no embedding in
  /// frames.
  static var page: WholeResponse {
    let policy =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
      + "frame-ancestors 'none'"
    return WholeResponse(
      status: .ok,
      fields: [
        .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy,
        .xContentTypeOptions: "nosniff", .cacheControl: "no-cache",
      ],
      body: ByteBuffer(bytes: PackageResources.page_html))
  }

  /// The module for browsers.
  static var client: WholeResponse {
    file(PackageResources.client_js, "text/javascript; charset=utf-8")
  }

  /// The description of the paths.
  static var description: WholeResponse {
    file(PackageResources.openapi_json, "application/json; charset=utf-8")
  }

  private static func file(_ bytes: [UInt8], _ type: String) -> WholeResponse {
    WholeResponse(
      status: .ok,
      fields: [
        .contentType: type, .xContentTypeOptions: "nosniff", .cacheControl: "no-cache",
      ],
      body: ByteBuffer(bytes: bytes))
  }

  /// The response to `OPTIONS`, also to a CORS preflight.
  static func options(_ route: Route) -> WholeResponse {
    WholeResponse(
      status: .noContent,
      fields: [
        .xContentTypeOptions: "nosniff", .allow: route.allowed,
        .accessControlAllowMethods: route.allowed,
        .accessControlAllowHeaders: "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
        .accessControlMaxAge: "600",
      ])
  }
}

extension HTTPFields {
  mutating func allow(_ origin: String) {
    self[.accessControlAllowOrigin] = origin
    // For cookies with a token.
    self[.accessControlAllowCredentials] = "true"
    self[.vary] = "Origin"
  }
}
