internal import NIOCore

extension Frame {
  /// The content of `frame` without its chunk, for a connection of HTTP/1.0.
  static func payload(of frame: ByteBuffer) -> ByteBuffer {
    let lineBreak = frame.readableBytesView.firstIndex(of: UInt8(ascii: "\n"))
    guard let lineBreak, frame.writerIndex - lineBreak >= 3 else { return ByteBuffer() }
    let start = lineBreak + 1
    return frame.getSlice(at: start, length: frame.writerIndex - 2 - start) ?? ByteBuffer()
  }
}
