internal import HTTPTypes
internal import NIOCore

extension WholeResponse {
  static func json(
    _ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> WholeResponse {
    .text(text + "\n", Self.json, status: status, headers: headers)
  }

  /// - Parameter text: with a line break at its end.
  static func json(_ text: ByteBuffer) -> WholeResponse {
    WholeResponse(status: .ok, fields: jsonFields, body: text)
  }

  private static let json = "application/json; charset=utf-8"
  /// The header fields of most responses.
  private static let jsonFields: HTTPFields = fields(json, [:])

  static func text(
    _ text: String, _ type: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> WholeResponse {
    WholeResponse(
      status: status,
      fields: headers.isEmpty && type == json ? jsonFields : Self.fields(type, headers),
      body: ByteBuffer(string: text))
  }

  private static func fields(_ type: String, _ others: HTTPFields) -> HTTPFields {
    var fields = others
    fields[.contentType] = type
    fields[.xContentTypeOptions] = "nosniff"
    if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
    return fields
  }
}
