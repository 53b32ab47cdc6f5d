internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Sets up and serves connections of HTTP/1.
struct HTTP1Connections: HTTPChannelHandler {
  let responder: Responder
  let routes: Routes
  let places: ConnectionPlaces

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTPConnection> {
    channel.eventLoop.makeCompletedFuture {
      let place = ConnectionPlace(places, channel, patience: routes.settings.patience)
      return try setup(channel, place)
    }
  }

  /// - Parameter scheme: of the requests.
  func setup(
    _ channel: any Channel, _ place: ConnectionPlace, scheme: String = "http"
  ) throws -> HTTPConnection {
    let settings = routes.settings
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
    let connection = Connection(routes.loops[channel.eventLoop].value)
    let codec = HTTP1Codec(
      settings.logger, settings.accessLog, connection, place, scheme: scheme,
      proxies: settings.trustedProxies)
    try pipeline.addHandler(codec)
    return try HTTPConnection(channel, codec, routes)
  }

  func handle(value connection: HTTPConnection, logger: Logger) async {
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

/// Makes the receive buffer of a connection start at the size of a request without a body. NIO
/// keeps the buffer for the lifetime of the connection, and grows it for larger reads.
private final class SmallReads: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  func handlerAdded(context: ChannelHandlerContext) {
    try? context.channel.syncOptions?.setOption(
      .recvAllocator,
      value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}
