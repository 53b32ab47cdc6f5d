internal import HTTPTypes
internal import NIOHTTP1

/// The host and the path of a request, by the rules of RFC 9112 and RFC 9113.
struct RequestTarget: Hashable {
  /// The host and port; `nil` if a client of HTTP/1.0 names none.
  var authority: String?
  /// The path and the query; `*` for the server as a whole.
  var path: String
}

extension RequestTarget {
  /// - Parameter scheme: that of the connection.
  /// - Throws: the refusal of a request whose version, framing, host or target is not valid.
  init(_ head: HTTPRequestHead, _ scheme: String = "http") throws(RequestError) {
    guard head.version == .http1_1 || head.version == .http1_0 else {
      throw RequestError(.httpVersionNotSupported, "this server takes HTTP/1.1 and HTTP/1.0")
    }
    try Self.checkTransferEncoding(head)
    let host = try Self.host(head)
    if case .CONNECT = head.method { throw Self.notProxy }
    if head.uri.utf8.first == UInt8(ascii: "/") || head.uri == "*" && head.method == .OPTIONS {
      self.init(authority: host, path: head.uri)
    } else {
      try self.init(absolute: head.uri[...], host, scheme)
    }
  }

  /// A target in absolute form, as a client sends it to a proxy. Its host counts, not the header
  /// field `Host`, which must be the same.
  private init(
    absolute uri: Substring, _ host: String?, _ scheme: String
  ) throws(RequestError) {
    guard let separator = uri.firstRange(of: "://") else {
      throw .badRequest("the target of the request is not a path")
    }
    try Self.check(uri[..<separator.lowerBound], is: scheme)
    let rest = uri[separator.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let authority = String(rest[..<end])
    guard Self.isHost(authority) else {
      throw .badRequest("the host in the target of the request is not valid")
    }
    try Self.check(host, isSameAs: authority, scheme)
    let path = rest[end...]
    self.init(authority: authority, path: path.hasPrefix("/") ? String(path) : "/\(path)")
  }

  /// - Throws: the refusal of a request of HTTP/2 whose scheme, host, path or length is not valid.
  init(http2 request: HTTPRequest) throws(RequestError) {
    guard request.method != .connect else { throw Self.notProxy }
    try Self.check(request.scheme ?? "", is: "https")
    let hosts = request.headerFields[values: Self.hostField]
    guard hosts.count <= 1 else { throw .badRequest("there is more than one Host") }
    guard let authority = request.authority ?? hosts.first else {
      throw .badRequest("there is no :authority")
    }
    guard Self.isHost(authority) else { throw .badRequest("the :authority is not valid") }
    try Self.check(hosts.first, isSameAs: authority, "https")
    let path = request.path ?? ""
    guard path.hasPrefix("/") || path == "*" && request.method == .options else {
      throw .badRequest("the :path is not a path")
    }
    // NIO also takes a sign, and ignores what is not a number.
    let lengths = request.headerFields[values: .contentLength]
    guard lengths.allSatisfy({ Int(digits: $0) != nil }) else {
      throw .badRequest("the Content-Length is not a number")
    }
    self.init(authority: authority, path: path)
  }

  /// `HTTPTypes` has no such constant, because the authority is its place.
  private static let hostField = HTTPField.Name("Host")!

  private static var notProxy: RequestError {
    RequestError(.notImplemented, "this server is not a proxy")
  }

  private static func check(
    _ scheme: some StringProtocol, is expected: String
  ) throws(RequestError) {
    guard scheme.lowercased() == expected else {
      throw RequestError(.misdirectedRequest, "this server is for \(expected)")
    }
  }

  private static func check(
    _ host: String?, isSameAs authority: String, _ scheme: String
  ) throws(RequestError) {
    let port = scheme == "https" ? ":443" : ":80"
    guard let host, withoutPort(host, port) != withoutPort(authority, port) else { return }
    throw RequestError(
      .misdirectedRequest, "the target of the request is on another host than Host")
  }

  private static func host(_ head: HTTPRequestHead) throws(RequestError) -> String? {
    let hosts = head.headers["host"]
    guard hosts.count <= 1 else { throw .badRequest("there is more than one Host") }
    guard let host = hosts.first else {
      guard head.version == .http1_0 else { throw .badRequest("there is no Host") }
      return nil
    }
    guard isHost(host) else { throw .badRequest("the Host is not valid") }
    return host
  }

  /// Refuses all codings but `chunked`: with others the end of the body cannot be determined, or
  /// the server cannot decode them.
  private static func checkTransferEncoding(_ head: HTTPRequestHead) throws(RequestError) {
    let values = head.headers["transfer-encoding"]
    guard !values.isEmpty else { return }
    guard head.version == .http1_1 else {
      throw .badRequest("a request of HTTP/1.0 has no Transfer-Encoding")
    }
    let codings = values.joined(separator: ",").lowercased().split(separator: ",").map { coding in
      coding.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    }
    guard codings.last.map({ String($0) }) == "chunked" else {
      throw .badRequest("the last Transfer-Encoding is not chunked")
    }
    let others = codings.dropLast().map { String($0) }
    guard !others.contains("chunked") else {
      throw .badRequest("the Transfer-Encoding is chunked more than once")
    }
    guard others.isEmpty else {
      throw RequestError(.notImplemented, "this server takes no Transfer-Encoding but chunked")
    }
  }

  private static func isSpace(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  /// Whether `text` is a host name or an address, with or without a port (RFC 3986).
  private static func isHost(_ text: String) -> Bool {
    // Of a string, each byte would take more instructions.
    var text = text
    return text.withUTF8 { isHost($0[...]) }
  }

  private static func isHost(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = bytes[bytes.startIndex..<end].dropFirst()
      let isAddress = address.allSatisfy { $0.isASCIIAlphanumeric || ":.".utf8.contains($0) }
      return !address.isEmpty && isAddress && isPort(bytes[end...].dropFirst())
    }
    let name = bytes.prefix { $0 != UInt8(ascii: ":") }
    let isName = name.allSatisfy {
      $0.isASCIIAlphanumeric || "-._~%!$&'()*+,;=".utf8.contains($0)
    }
    return !name.isEmpty && isName && isPort(bytes[name.endIndex...])
  }

  private static func isPort(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    let digits = bytes.dropFirst()
    return bytes.isEmpty
      || bytes.first == UInt8(ascii: ":") && digits.count <= 5
        && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func withoutPort(_ authority: String, _ port: String) -> String {
    let text = authority.lowercased()
    if text.hasSuffix(port) { return String(text.dropLast(port.count)) }
    return text.hasSuffix(":") ? String(text.dropLast()) : text
  }
}
