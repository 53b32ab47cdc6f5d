internal import HTTPTypes

/// The media type of a body, without its parameters.
enum MediaType {
  /// - Returns: in lower case; empty without a `Content-Type`.
  static func name(_ headers: HTTPFields) -> String {
    let value = headers.value(of: .contentType) ?? ""
    let name = value.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
    return String(decoding: name.map(\.lowercasedASCII), as: UTF8.self)
  }

  static func json(_ headers: HTTPFields) -> Bool { name(headers) == "application/json" }
}
