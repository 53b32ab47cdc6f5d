internal import HTTPTypes
internal import NIOCore

extension WholeResponse {
  static func json(
    _ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> WholeResponse {
    .text(text + "\n", Self.json, status: status, headers: headers)
  }

  private static let json = "application/json; charset=utf-8"
  /// The header fields of most responses.
  private static let jsonHeaders: HTTPFields = headers(json, [:])

  static func text(
    _ text: String, _ type: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> WholeResponse {
    WholeResponse(
      status: status,
      headers: headers.isEmpty && type == json ? jsonHeaders : Self.headers(type, headers),
      body: ByteBuffer(string: text))
  }

  private static func headers(_ type: String, _ others: HTTPFields) -> HTTPFields {
    var headers = others
    headers[.contentType] = type
    headers[.xContentTypeOptions] = "nosniff"
    if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
    return headers
  }
}
