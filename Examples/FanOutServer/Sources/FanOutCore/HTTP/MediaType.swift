internal import HTTPTypes

/// The media type of a body, without its parameters.
enum MediaType {
  /// - Returns: in lower case; empty without a `Content-Type`.
  static func name(_ headers: HTTPFields) -> String {
    (headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
  }

  static func json(_ headers: HTTPFields) -> Bool { name(headers) == "application/json" }
}
