internal import HummingbirdCore
internal import NIOCore

extension HTTPServerBuilder {
  /// HTTP/1.1 with little memory per connection: most connections are idle streams.
  static func fanOut(idleTimeout: TimeAmount, _ loops: ConnectionLoops) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      HTTP1Channel(
        responder: { request, writer, channel in
          // A task keeps the memory of its deepest call until it ends, and the task of a connection
          // with a stream lives long. So the response runs in its own task.
          let box = WriterBox(writer)
          try await Task.detached {
            guard let writer = box.take() else { return }
            try await responder(request, writer, channel)
          }.value
        },
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [SmallReads(), Connection(loops)], idleTimeout: idleTimeout))
    }
  }
}

/// Transfers a writer to another task.
private final class WriterBox: @unchecked Sendable {
  // Sendable: written before the task starts; only that task uses it afterwards.

  private var writer: ResponseWriter?

  init(_ writer: consuming ResponseWriter) {
    self.writer = consume writer
  }

  func take() -> ResponseWriter? { writer.take() }
}

/// Makes the receive buffer of a connection start at the size of a request without a body. NIO keeps
/// the buffer for the lifetime of the connection, and grows it for larger reads.
private final class SmallReads: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  func handlerAdded(context: ChannelHandlerContext) {
    try? context.channel.syncOptions?.setOption(
      .recvAllocator,
      value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}
