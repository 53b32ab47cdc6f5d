internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A fan-out server with the HTTP codec of SwiftNIO and one handler on each connection.
enum FloorServer {
  /// Listens on 127.0.0.1; every connection is served on `loop`.
  ///
  /// - Parameter port: 0 for any free port.
  static func start(on loop: any EventLoop, port: Int) async throws -> any Channel {
    let streams = try await loop.submit { NIOLoopBound(FloorStreams(), eventLoop: loop) }.get()
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
