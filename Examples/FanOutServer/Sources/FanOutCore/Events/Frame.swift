internal import NIOCore

/// Encodes blocks of an event stream, each as one HTTP/1.1 chunk.
///
/// Because a frame contains its chunk, it is encoded once and written unchanged to any number of
/// streams.
enum Frame {
  /// An event. Lines of its data end with CR LF, LF or CR; the client gets LF.
  static func event(
    id: EventID, type: EventType? = nil, retryMilliseconds: Int? = nil, data: ByteBuffer
  ) -> ByteBuffer {
    frame(capacity: data.readableBytes + 64) { buffer in
      buffer.writeStaticString("id: ")
      _ = id.withDigits { buffer.writeBytes($0) }
      buffer.writeStaticString("\n")
      if let type { buffer.writeString("event: \(type.name)\n") }
      if let retryMilliseconds { buffer.writeString("retry: \(retryMilliseconds)\n") }
      writeLines(of: data, to: &buffer)
      buffer.writeStaticString("\n")
    }
  }

  /// The most bytes that the frame of an event has.
  ///
  /// - Parameter count: the number of bytes of its data. Each line break becomes `data: ` and LF.
  static func maximumBytes(ofData count: Int) -> Int {
    let type = EventType(String(repeating: "x", count: EventType.maximumLength))
    let fields = event(id: .max, type: type, retryMilliseconds: .min, data: ByteBuffer())
    return headRoom + fields.readableBytes + min(count, .max / 8) * 7
  }

  /// A notice of the server.
  ///
  /// - Parameters:
  ///   - json: without line breaks.
  ///   - id: `nil`: the client keeps the id of the last event.
  static func notice(_ name: String, _ json: String, id: EventID? = nil) -> ByteBuffer {
    frame(capacity: 64 + json.utf8.count) { buffer in
      if let id { buffer.writeString("id: \(id)\n") }
      buffer.writeString("event: \(name)\ndata: \(json)\n\n")
    }
  }

  /// A comment, which clients ignore.
  static func comment(_ text: String) -> ByteBuffer {
    frame(capacity: 32) { $0.writeString(":\(text)\n\n") }
  }

  /// The reconnection time of the client, and the id for its reconnection until it gets an event.
  ///
  /// - Parameter isEvent: whether it is an event, `begin`: a browser keeps the id of a block
  ///   without data for itself.
  static func retry(
    milliseconds: Int64, id: EventID? = nil, isEvent: Bool = false
  ) -> ByteBuffer {
    frame(capacity: 64) { buffer in
      if let id { buffer.writeString("id: \(id)\n") }
      if isEvent { buffer.writeStaticString("event: begin\ndata: {}\n") }
      buffer.writeString("retry: \(milliseconds)\n\n")
    }
  }

  /// A notice that `count` events were dropped for this subscriber.
  ///
  /// - Parameter topic: the name of their topic; `nil`: that of the stream.
  static func missed(_ count: Int, of topic: String? = nil) -> ByteBuffer {
    notice("missed", #"{"reason":"slow",\#(member(topic))"count":\#(count)}"#)
  }

  /// A notice that the server does not have the events after `id`, up to `last`.
  ///
  /// If `last` is below `id`, the ids have begun again, or there was no event `id`, and everything
  /// after `last` follows. Then the notice has the id `last`: with a higher one the client would
  /// not get all of that if it reconnected before the next event.
  ///
  /// - Parameter topic: the name of their topic; `nil`: any topic of the stream.
  static func missed(
    after id: EventID, through last: EventID, of topic: String? = nil
  ) -> ByteBuffer {
    notice(
      "missed", #"{"reason":"history",\#(member(topic))"after":\#(id),"through":\#(last)}"#,
      id: last < id ? last : nil)
  }

  /// - Parameter topic: a valid name, which needs no escaping.
  private static func member(_ topic: String?) -> String {
    topic.map { #""topic":"\#($0)","# } ?? ""
  }

  /// The last chunk, which ends the response.
  static let end = ByteBuffer(staticString: "0\r\n\r\n")
  static let heartbeat = comment("")
  static let disconnected = notice("disconnected", #"{"reason":"slow"}"#)

  /// The longest size line of a chunk: 16 digits and CR LF.
  private static let headRoom = 18

  static func frame(capacity: Int, _ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: headRoom + capacity + 2)
    buffer.writeRepeatingByte(0, count: headRoom)
    write(&buffer)
    let size = UInt64(buffer.writerIndex - headRoom)
    buffer.writeStaticString("\r\n")
    size.withDigits(radix: 16) { digits in
      buffer.moveReaderIndex(to: headRoom - 2 - digits.count)
      buffer.setBytes(digits, at: buffer.readerIndex)
    }
    _ = buffer.setStaticString("\r\n", at: headRoom - 2)
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
