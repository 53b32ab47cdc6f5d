internal import Multicast
internal import NIOCore

extension Frame {
  private typealias Bytes = Slice<UnsafeRawBufferPointer>

  private static let dataField = Array("data: ".utf8)

  /// The event of `frame`, which ``event(id:type:retryMilliseconds:data:)`` has made, with its
  /// topic: its data is `{"topic":"…","data":"…"}`.
  static func event(_ frame: ByteBuffer, of topic: Topic) -> ByteBuffer {
    payload(of: frame).withUnsafeReadableBytes { bytes in
      Self.frame(capacity: bytes.count + topic.name.utf8.count + 64) { buffer in
        var rest = bytes[...]
        // The other fields are before the data.
        while !rest.starts(with: dataField), let line = takeLine(&rest) { buffer.writeBytes(line) }
        // A name needs no escaping.
        buffer.writeString(#"data: {"topic":"\#(topic.name)","data":""#)
        var separator: StaticString = ""
        while rest.starts(with: dataField), let line = takeLine(&rest) {
          buffer.writeStaticString(separator)
          JSON.write(partOfString: line.dropFirst(dataField.count).dropLast(), to: &buffer)
          separator = #"\n"#
        }
        buffer.writeStaticString("\"}\n\n")
      }
    }
  }

  /// Removes the first line.
  ///
  /// - Returns: the line with its LF.
  private static func takeLine(_ rest: inout Bytes) -> Bytes? {
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[...end]
  }

  /// A notice of events that are missing: those that a slow client did not read in time are
  /// counted.
  ///
  /// - Parameter topic: as in ``missed(_:of:)`` and ``missed(after:through:of:)``.
  static func missed(_ range: MissedEvents, of topic: String?) -> ByteBuffer {
    range.count.map { missed($0, of: topic) }
      ?? missed(after: range.after.number, through: range.through.number, of: topic)
  }
}
