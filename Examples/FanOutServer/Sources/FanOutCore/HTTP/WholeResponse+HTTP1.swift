internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

extension WholeResponse {
  /// A longer body is not copied behind the head.
  private static let longestCopiedBody = 4096

  /// The bytes of the response (RFC 9112, section 2.1), with a date. The body is a buffer of its
  /// own if it is long.
  ///
  /// As one buffer, the response to a publication takes about a third of the instructions that the
  /// handlers of SwiftNIO need for its parts.
  ///
  /// - Parameter isLast: whether the server closes the connection behind it.
  func encoded(
    _ version: HTTPVersion, isLast: Bool, _ allocator: ByteBufferAllocator
  ) -> (first: ByteBuffer, body: ByteBuffer?) {
    let capacity = headCapacity
    let isCopied = body.readableBytes <= Self.longestCopiedBody
    var first = allocator.buffer(capacity: capacity + (isCopied ? body.readableBytes : 0))
    first.writeText(capacity: capacity) { writeHead(version, isLast: isLast, to: &$0) }
    guard isCopied else { return (first, body) }
    first.writeImmutableBuffer(body)
    return (first, nil)
  }

  /// At least the bytes of the head.
  private var headCapacity: Int {
    // Beside the fields: the status line, `Content-Length`, `Connection` and `Date`.
    fields.reduce(256 + status.reasonPhrase.utf8.count) { sum, field in
      sum + field.name.rawName.utf8.count + field.value.utf8.count + 4
    }
  }

  private func writeHead(_ version: HTTPVersion, isLast: Bool, to head: inout TextWriter) {
    head.write(version == .http1_0 ? "HTTP/1.0 " : "HTTP/1.1 ")
    head.write(UInt64(status.code))
    head.write(" ")
    head.write(status.reasonPhrase)
    for field in fields {
      head.write("\r\n")
      head.write(field.name.rawName)
      head.write(": ")
      head.write(field.value)
    }
    if let length {
      head.write("\r\nContent-Length: ")
      head.write(UInt64(length))
    }
    if isLast { head.write("\r\nConnection: close") }
    head.write("\r\nDate: ")
    head.write(Timestamp.httpDateNow)
    head.write("\r\n\r\n")
  }
}
