internal import HummingbirdCore
internal import NIOCore

extension HTTPServerBuilder {
  /// HTTP/1.1 with little memory for each connection: most of them are idle streams.
  static func fanOut(idleTimeout: TimeAmount, _ loops: ConnectionLoops) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      HTTP1Channel(
        responder: { request, writer, channel in
          // The task of a connection keeps the memory of its deepest call for as long as it lives,
          // and with a stream that is long. So the answer has a task of its own.
          let place = WriterBox(writer)
          try await Task.detached {
            guard let writer = place.take() else { return }
            try await responder(request, writer, channel)
          }.value
        },
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [SmallReads(), Connection(loops)], idleTimeout: idleTimeout))
    }
  }
}

/// Hands a writer over to a task.
private final class WriterBox: @unchecked Sendable {
  // Sendable: written before the task begins, and then used by it alone.

  private var writer: ResponseWriter?

  init(_ writer: consuming ResponseWriter) {
    self.writer = consume writer
  }

  func take() -> ResponseWriter? { writer.take() }
}

/// Makes the first buffer that a connection reads into, and then keeps, as large as a request
/// without a body is. It grows when more comes.
private final class SmallReads: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  func handlerAdded(context: ChannelHandlerContext) {
    try? context.channel.syncOptions?.setOption(
      .recvAllocator,
      value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}
