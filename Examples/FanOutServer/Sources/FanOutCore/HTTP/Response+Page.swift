internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension Response {
  /// The server's page. The policy allows its inline scripts and styles, and no embedding in frames.
  static var page: Response {
    let policy =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
      + "frame-ancestors 'none'"
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy,
        .xContentTypeOptions: "nosniff", .cacheControl: "no-cache",
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.page_html)))
  }

  /// The module for browsers.
  static var client: Response {
    file(PackageResources.client_js, "text/javascript; charset=utf-8")
  }

  /// The description of the paths.
  static var description: Response {
    file(PackageResources.openapi_json, "application/json; charset=utf-8")
  }

  private static func file(_ bytes: [UInt8], _ type: String) -> Response {
    Response(
      status: .ok,
      headers: [.contentType: type, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// The response to `OPTIONS`, also to a CORS preflight.
  static func options(_ route: Route) -> Response {
    let methods = (route.methods + [.options]).map(\.rawValue).joined(separator: ", ")
    return Response(
      status: .noContent,
      headers: [
        .allow: methods, .accessControlAllowMethods: methods,
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
