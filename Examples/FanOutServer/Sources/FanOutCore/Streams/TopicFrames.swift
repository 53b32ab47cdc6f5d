internal import NIOCore

/// The frames of events with their topics that the streams of an event loop have written last, so
/// that an event is encoded once for all of them.
///
/// They are not part of the events, because most events need none, and the memory of events is
/// limited by their size.
struct TopicFrames {
  /// When they have more bytes, they are encoded anew.
  static let byteLimit = 1 << 20

  /// With the event, so that no other one gets its place in memory.
  private var frames: [ObjectIdentifier: (event: Event, frame: ByteBuffer)] = [:]
  private(set) var bytes = 0

  mutating func frame(of event: Event) -> ByteBuffer {
    if let known = frames[ObjectIdentifier(event)] { return known.frame }
    let frame = Frame.event(event.frame, of: event.topic)
    if bytes > Self.byteLimit {
      frames.removeAll()
      bytes = 0
    }
    bytes += frame.readableBytes + 128
    frames[ObjectIdentifier(event)] = (event, frame)
    return frame
  }
}
