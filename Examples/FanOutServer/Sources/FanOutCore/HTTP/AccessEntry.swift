internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A line of the access log.
struct AccessEntry {
  /// The parameters of a query that the server knows. None of them is secret.
  private static let parameters: Set<Substring> = [
    "policy", "lasteventid", "last-event-id", "event", "retry", "prefix", "after", "limit",
    "topic", "id", "begin",
  ]

  private let time = Timestamp.now
  private let start = NIODeadline.now()
  private let address: String
  private var method = "-"
  private var target = "-"
  private var version = "-"
  private var page = "-"
  private var program = "-"
  /// 499, as in nginx, if the client closes before the response.
  var status = 499
  /// Bytes of the body.
  var bytes = 0
  /// When the response was complete.
  private var end: NIODeadline?

  /// - Parameters:
  ///   - head: `nil` if the request is not HTTP.
  ///   - address: that of the client.
  init(_ head: HTTPRequestHead?, _ address: SocketAddress?) {
    self.address = address.map { $0.ipAddress ?? "unix:" } ?? "unknown"
    guard let head else { return }
    version = head.version.text
    describe(
      head.method.rawValue, head.uri, page: head.headers.first(name: "referer"),
      program: head.headers.first(name: "user-agent"))
  }

  /// - Parameter request: of HTTP/2.
  init(_ request: HTTPRequest, _ address: SocketAddress?) {
    self.init(nil, address)
    version = "HTTP/2.0"
    describe(
      request.method.rawValue, request.path ?? "", page: request.headerFields[.referer],
      program: request.headerFields[.userAgent])
  }

  private mutating func describe(
    _ method: String, _ uri: String, page: String?, program: String?
  ) {
    self.method = Self.escape(method)
    target = Self.target(uri)
    self.page = page.map { Self.escape($0.prefix { !"?#".contains($0) }) } ?? "-"
    self.program = program.map { Self.escape($0[...]) } ?? "-"
  }

  /// Ends the measurement of the time.
  mutating func finish() { end = .now() }
}

extension AccessEntry {
  func line(_ format: AccessLog.Format) -> String {
    switch format {
    case .combined: combined
    case .json: json
    }
  }

  private var combined: String {
    "\(address) - - [\(date)] \"\(method) \(target) \(version)\" \(status) \(bytes) "
      + "\"\(page)\" \"\(program)\""
  }

  private var json: String {
    let duration = (end ?? .now()) - start
    return JSON.object([
      ("time", JSON.string(Timestamp.text(time))), ("address", JSON.string(address)),
      ("method", JSON.string(method)), ("path", JSON.string(target)),
      ("version", JSON.string(version)), ("status", "\(status)"), ("bytes", "\(bytes)"),
      ("seconds", "\(Double(duration.nanoseconds / 1000) / 1e6)"), ("referer", JSON.string(page)),
      ("agent", JSON.string(program)),
    ])
  }

  /// The path, if the server knows it: others may be anything, such as a token at the wrong place.
  /// The values of unknown parameters, values with parameters in them, and what may be a JSON web
  /// token are left out for the same reason.
  private static func target(_ uri: String) -> String {
    let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = parts.first, isKnown(path), !mayBeToken(path) else { return "unknown" }
    guard let query = parts.dropFirst().first else { return escape(path) }
    let parameters = query.split(separator: "&").map { parameter in
      let name = parameter.prefix { $0 != "=" }
      guard Self.parameters.contains(name.lowercased()[...]) else { return "..." }
      let value = parameter.dropFirst(name.count + 1)
      let isHidden = mayBeToken(value) || value.contains { "?=;#".contains($0) }
      return isHidden ? "\(name)=..." : escape(parameter)
    }
    return "\(escape(path))?\(parameters.joined(separator: "&"))"
  }

  /// Whether a text has the beginning of a JSON web token: that of an object in Base64.
  private static func mayBeToken(_ text: Substring) -> Bool { text.contains("eyJ") }

  private static func isKnown(_ path: Substring) -> Bool {
    switch Route(path) {
    case nil: false
    case .topic(let name), .subscribe(let name): (try? Topic(name, limit: .max)) != nil
    default: true
    }
  }

  /// Escapes what would end a field or a line, as nginx does.
  private static func escape(_ text: some StringProtocol) -> String {
    var result = ""
    for byte in text.utf8.prefix(1024) {
      if (0x20...0x7e).contains(byte), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += "\\x" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }

  private var date: String {
    let parts = Timestamp.parts(time)
    return "\(Timestamp.twoDigits(parts.tm_mday))/\(Timestamp.month(parts))/"
      + "\(parts.tm_year + 1900):\(Timestamp.clock(parts)) +0000"
  }
}

extension HTTPVersion {
  fileprivate var text: String { "HTTP/\(major).\(minor)" }
}
