internal import NIOCore

/// The open streams of each topic, and the number of events so far. Of one event loop.
final class FloorStreams {
  private var channels: [Substring: [ObjectIdentifier: any Channel]] = [:]
  private var published = 0

  func add(_ channel: any Channel, to topic: Substring) {
    channels[topic, default: [:]][ObjectIdentifier(channel)] = channel
  }

  func remove(_ channel: any Channel, from topic: Substring) {
    channels[topic]?[ObjectIdentifier(channel)] = nil
    if channels[topic]?.isEmpty == true { channels[topic] = nil }
  }

  /// Sends an event to each stream of a topic.
  ///
  /// - Returns: its number, and how many streams there are.
  func publish(_ data: ByteBuffer, to topic: Substring) -> (number: Int, streams: Int) {
    published += 1
    var event = ByteBufferAllocator().buffer(capacity: data.readableBytes + 40)
    event.writeString("id: \(published)\ndata: ")
    event.writeImmutableBuffer(data)
    event.writeString("\n\n")
    guard let streams = channels[topic] else { return (published, 0) }
    for channel in streams.values { channel.writeAndFlush(event, promise: nil) }
    return (published, streams.count)
  }
}
