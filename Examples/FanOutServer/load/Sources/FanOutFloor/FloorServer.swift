internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A fan-out server with the HTTP codec of SwiftNIO and one handler on each connection.
enum FloorServer {
  /// Listens on 127.0.0.1; every connection is served on `loop`.
  ///
  /// - Parameter port: 0 for any free port.
  static func start(on loop: any EventLoop, port: Int) async throws -> any Channel {
    let streams = try await loop.submit { NIOLoopBound(Streams(), eventLoop: loop) }.get()
    return try await ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(HTTPResponseEncoder())
          try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
          try pipeline.addHandler(FloorConnection(streams.value))
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
  }
}

/// The open streams of each topic, and the number of events so far. Of one event loop.
final class Streams {
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
