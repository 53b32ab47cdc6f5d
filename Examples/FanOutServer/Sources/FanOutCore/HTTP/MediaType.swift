internal import HTTPTypes

/// The media type of a body, without its parameters.
enum MediaType {
  /// - Returns: in lower case; empty without a `Content-Type`.
  static func name(_ headers: HTTPFields) -> String {
    String(decoding: written(headers).map(\.lowercasedASCII), as: UTF8.self)
  }

  static func json(_ headers: HTTPFields) -> Bool {
    written(headers).lazy.map(\.lowercasedASCII).elementsEqual("application/json".utf8)
  }

  /// - Returns: as the client wrote it.
  private static func written(_ headers: HTTPFields) -> Substring.UTF8View {
    let value = headers.value(of: .contentType) ?? ""
    var name = value.utf8.prefix { $0 != UInt8(ascii: ";") }
    // White space may be before the semicolon (RFC 9110, section 5.6.6).
    while let last = name.last, last == 0x20 || last == 0x09 { name.removeLast() }
    return name
  }
}
