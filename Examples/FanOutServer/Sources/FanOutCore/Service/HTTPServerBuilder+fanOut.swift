internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

extension HTTPServerBuilder {
  /// HTTP/1.1 with little memory per connection: most connections are idle streams.
  static func fanOut(_ routes: Routes) -> HTTPServerBuilder {
    let (loops, settings) = (routes.loops, routes.settings)
    let places = ConnectionPlaces(
      settings.maxConnections, perAddress: settings.maxConnectionsPerAddress)
    return HTTPServerBuilder { responder in
      HTTP1Connections(
        responder: { request, writer, channel in
          // A task keeps the memory of its deepest call until it ends, and the task of a connection
          // with a stream lives long. So the response runs in its own task.
          let box = WriterBox(writer)
          let executor = loops.executor(of: channel.eventLoop)
          try await Task.detached(executorPreference: executor) {
            guard let writer = box.take() else { return }
            try await responder(request, writer, channel)
          }.value
        },
        routes: routes, places: places)
    }
  }
}

/// Sets up and serves connections of HTTP/1.
private struct HTTP1Connections: HTTPChannelHandler {
  let responder: Responder
  let routes: Routes
  let places: ConnectionPlaces

  func setup(
    channel: any Channel, logger: Logger
  ) -> EventLoopFuture<HTTP1Connection> {
    let (loops, settings) = (routes.loops, routes.settings)
    return channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = 80 << 10
      limits.maxHeaderListSize = 80 << 10
      limits.maxHeaderFieldCount = 1000
      try pipeline.addHandler(SmallReads())
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false,
        // `HTTPFields` are valid.
        withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
        withDecoderLimitConfiguration: limits)
      try pipeline.addHandler(
        HTTP1Codec(settings.logger, settings.accessLog, places, patience: settings.patience))
      try pipeline.addHandler(Connection(loops))
      let idleTimeout = Duration.nanoseconds(settings.idleTimeout.nanoseconds)
      try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: idleTimeout, logger: logger))
      let requests = channel.eventLoop.makePromise(of: SmallRequests.LargeRequests?.self)
      try pipeline.addHandler(SmallRequests(routes, requests))
      return HTTP1Connection(channel: channel, requests: requests.futureResult)
    }
  }

  func handle(value connection: HTTP1Connection, logger: Logger) async {
    let channel = connection.channel
    await withTaskExecutorPreference(routes.loops.executor(of: channel.eventLoop)) {
      let requests = await withTaskCancellationHandler {
        let requests = try? await connection.requests.get()
        if requests == nil { try? await channel.closeFuture.get() }
        return requests
      } onCancel: {
        channel.close(promise: nil)
      }
      if let requests { await handleHTTP(asyncChannel: requests, logger: logger) }
    }
  }
}

/// A connection of HTTP/1.
private struct HTTP1Connection: ServerChildChannelValue {
  let channel: any Channel
  /// Where its requests are; `nil` if it is a stream, or closed.
  let requests: EventLoopFuture<SmallRequests.LargeRequests?>
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
