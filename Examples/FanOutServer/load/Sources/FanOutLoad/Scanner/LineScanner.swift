#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Splits bytes that arrive in pieces into lines. A line ends with LF or CRLF.
///
/// A line that is complete in one piece is not copied.
struct LineScanner {
  /// Longer lines are refused, so that a broken server cannot fill the memory.
  static let limit = 1 << 20

  /// The start of an incomplete line.
  private var start: [UInt8] = []

  /// Removes the next line from the front of `bytes`, and calls `body` with it, without its end.
  ///
  /// - Returns: the result of `body`; `nil` if the line continues in the next piece. Then `bytes`
  ///   is empty.
  mutating func next<Result>(
    in bytes: inout UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws(ScanError) -> Result
  ) throws(ScanError) -> Result? {
    guard let base = bytes.baseAddress, let end = memchr(base, Self.lineFeed, bytes.count) else {
      start.append(contentsOf: bytes)
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      guard start.count <= Self.limit else { throw .lineTooLong }
      return nil
    }
    let length = UnsafeRawPointer(end) - base
    let line = UnsafeRawBufferPointer(start: base, count: length)
    bytes = UnsafeRawBufferPointer(rebasing: bytes[(length + 1)...])
    guard !start.isEmpty else { return try body(line.withoutCarriageReturn) }

    start.append(contentsOf: line)
    let whole = start
    start = []
    return try whole.withRawBytes(body)
  }

  private static let lineFeed = Int32(UInt8(ascii: "\n"))
}

/// Bytes that a correct server does not send.
enum ScanError: Error, Equatable {
  case lineTooLong
  case statusLine(String)
  case header(String)
  case chunkSize(String)
  case chunkEnd
}

extension UnsafeRawBufferPointer {
  fileprivate var withoutCarriageReturn: UnsafeRawBufferPointer {
    last == UInt8(ascii: "\r") ? UnsafeRawBufferPointer(rebasing: dropLast()) : self
  }

  /// The bytes as text, for rare lines and for error messages.
  var text: String { String(decoding: self, as: UTF8.self) }
}

extension [UInt8] {
  /// `withUnsafeBytes` with a typed error.
  fileprivate func withRawBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(ScanError) -> Result
  ) throws(ScanError) -> Result {
    try withUnsafeBytes { bytes -> Swift.Result<Result, ScanError> in
      do throws(ScanError) {
        return .success(try body(bytes.withoutCarriageReturn))
      } catch {
        return .failure(error)
      }
    }.get()
  }
}
