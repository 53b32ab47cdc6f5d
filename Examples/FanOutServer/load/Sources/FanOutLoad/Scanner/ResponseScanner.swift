/// Splits bytes of an HTTP/1.1 connection that arrive in pieces into responses.
///
/// A body has a length, is chunked, or ends with the connection.
struct ResponseScanner {
  /// A part of a response.
  enum Part {
    case head(status: Int)
    case body(UnsafeRawBufferPointer)
    case end
  }

  private enum State {
    case statusLine
    case headers
    case length(Int)
    case chunkSize
    case chunk(Int)
    case chunkEnd
    case trailers
    case untilClose
  }

  private var state = State.statusLine
  private var lines = LineScanner()
  private var status = 0
  private var body = State.untilClose

  /// Removes the next part from the front of `bytes`; `nil` if the part is incomplete.
  ///
  /// The bytes of a `body` are valid as long as the given ones.
  mutating func next(in bytes: inout UnsafeRawBufferPointer) throws(ScanError) -> Part? {
    while true {
      switch state {
      case .statusLine:
        guard let status = try lines.next(in: &bytes, Self.status) else { return nil }
        self.status = status
        body = status == 204 || status == 304 ? .length(0) : .untilClose
        state = .headers

      case .headers:
        guard let header = try lines.next(in: &bytes, Self.header) else { return nil }
        switch header {
        case .end:
          // The final response follows an interim one.
          state = (100..<200).contains(status) ? .statusLine : body
          if case .statusLine = state { continue }
          return .head(status: status)
        case .contentLength(let length):
          if case .untilClose = body { body = .length(length) }
        case .chunked: body = .chunkSize
        case .other: break
        }

      case .length(let rest):
        guard rest > 0 else {
          state = .statusLine
          return .end
        }
        guard let piece = Self.take(rest, of: &bytes) else { return nil }
        state = .length(rest - piece.count)
        return .body(piece)

      case .chunkSize:
        guard let size = try lines.next(in: &bytes, Self.chunkSize) else { return nil }
        state = size == 0 ? .trailers : .chunk(size)

      case .chunk(let rest):
        guard rest > 0 else {
          state = .chunkEnd
          continue
        }
        guard let piece = Self.take(rest, of: &bytes) else { return nil }
        state = .chunk(rest - piece.count)
        return .body(piece)

      case .chunkEnd:
        guard let isEmpty = try lines.next(in: &bytes, { $0.isEmpty }) else { return nil }
        guard isEmpty else { throw .chunkEnd }
        state = .chunkSize

      case .trailers:
        guard let isEmpty = try lines.next(in: &bytes, { $0.isEmpty }) else { return nil }
        guard isEmpty else { continue }
        state = .statusLine
        return .end

      case .untilClose:
        return Self.take(.max, of: &bytes).map { .body($0) }
      }
    }
  }

  /// Removes up to `count` bytes; `nil` if there are none.
  private static func take(
    _ count: Int, of bytes: inout UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    guard !bytes.isEmpty else { return nil }
    let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(count))
    return piece
  }
}

extension ResponseScanner {
  private enum Header {
    case contentLength(Int)
    case chunked
    case other
    case end
  }

  private static func status(_ line: UnsafeRawBufferPointer) throws(ScanError) -> Int {
    let words = line.text.split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].count == 3,
      let status = Int(words[1])
    else { throw .statusLine(line.text) }
    return status
  }

  private static func header(_ line: UnsafeRawBufferPointer) throws(ScanError) -> Header {
    guard !line.isEmpty else { return .end }
    let text = line.text
    guard let colon = text.firstIndex(of: ":") else { throw .header(text) }
    let value = text[text.index(after: colon)...].filter { $0 != " " && $0 != "\t" }.lowercased()
    switch text[..<colon].lowercased() {
    case "content-length":
      guard let length = Int(value), length >= 0 else { throw .header(text) }
      return .contentLength(length)
    case "transfer-encoding":
      guard value == "chunked" else { throw .header(text) }
      return .chunked
    default:
      return .other
    }
  }

  /// Hexadecimal digits, and optional extensions, which are ignored. Does not convert to text,
  /// because each event has such a line.
  private static func chunkSize(_ line: UnsafeRawBufferPointer) throws(ScanError) -> Int {
    var size = 0
    var digits = 0
    for byte in line {
      guard let digit = byte.hexDigit else {
        guard byte == UInt8(ascii: ";") || byte == UInt8(ascii: " ") else {
          throw .chunkSize(line.text)
        }
        break
      }
      digits += 1
      size = size << 4 | digit
    }
    guard (1...15).contains(digits) else { throw .chunkSize(line.text) }
    return size
  }
}

extension UInt8 {
  /// The value of an ASCII hexadecimal digit.
  @inline(__always) var hexDigit: Int? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(self - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(self - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
