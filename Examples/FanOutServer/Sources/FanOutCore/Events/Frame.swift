internal import NIOCore

/// The bytes of one block of an event stream, together with the HTTP/1.1 chunk around them.
///
/// With the chunk inside, a frame can be written to a connection as it is: it is encoded once,
/// however many streams it goes to.
enum Frame {
  /// An event. Lines of its data end with CR LF, LF or CR; a client sees LF.
  static func event(id: EventID, data: ByteBuffer) -> ByteBuffer {
    frame(capacity: data.readableBytes + 64) { buffer in
      buffer.writeString("id: \(id)\n")
      writeLines(of: data, to: &buffer)
      buffer.writeStaticString("\n")
    }
  }

  /// An event from the server itself. It has no id: a client remembers that of the last event.
  ///
  /// - Parameter json: without line ends.
  static func notice(_ name: String, _ json: String) -> ByteBuffer {
    frame(capacity: 64 + json.utf8.count) { buffer in
      buffer.writeString("event: \(name)\ndata: \(json)\n\n")
    }
  }

  /// Something that clients skip.
  static func comment(_ text: String) -> ByteBuffer {
    frame(capacity: 32) { $0.writeString(":\(text)\n\n") }
  }

  /// How long a client is to wait before it comes back, and with which id if it gets no event until
  /// then.
  static func retry(milliseconds: Int64, id: EventID? = nil) -> ByteBuffer {
    frame(capacity: 64) { buffer in
      if let id { buffer.writeString("id: \(id)\n") }
      buffer.writeString("retry: \(milliseconds)\n\n")
    }
  }

  /// So many events were dropped for this subscriber at this place.
  static func missed(_ count: Int) -> ByteBuffer {
    notice("missed", #"{"reason":"slow","count":\#(count)}"#)
  }

  /// The events of a gap are not kept any more, or were never known.
  static func missed(_ gap: Gap) -> ByteBuffer {
    notice("missed", #"{"reason":"history","after":\#(gap.after),"through":\#(gap.through)}"#)
  }

  /// The last chunk: the end of the response.
  static let end = ByteBuffer(staticString: "0\r\n\r\n")
  static let heartbeat = comment("")
  static let disconnected = notice("disconnected", #"{"reason":"slow"}"#)

  /// The size line of a chunk with up to 16 digits.
  private static let headRoom = 18

  private static func frame(capacity: Int, _ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: headRoom + capacity + 2)
    buffer.writeRepeatingByte(0, count: headRoom)
    write(&buffer)
    let size = String(buffer.writerIndex - headRoom, radix: 16) + "\r\n"
    buffer.writeStaticString("\r\n")
    buffer.moveReaderIndex(to: headRoom - size.utf8.count)
    buffer.setString(size, at: buffer.readerIndex)
    return buffer
  }

  private static func writeLines(of data: ByteBuffer, to buffer: inout ByteBuffer) {
    data.withUnsafeReadableBytes { bytes in
      var rest = bytes[...]
      while true {
        let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        buffer.writeStaticString("data: ")
        buffer.writeBytes(rest[..<(end ?? rest.endIndex)])
        buffer.writeStaticString("\n")
        guard let end else { return }
        let isPair = bytes[end] == UInt8(ascii: "\r") && bytes[end...].dropFirst().first == 10
        rest = rest[(end + (isPair ? 2 : 1))...]
      }
    }
  }
}
