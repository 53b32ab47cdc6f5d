internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP2
internal import NIOHTTPTypesHTTP2

/// Sets up and serves encrypted connections: of HTTP/2, or of HTTP/1.1, as the client chooses.
struct SecureConnections: HTTPChannelHandler {
  typealias Negotiation = EventLoopFuture<NIONegotiatedHTTPVersion<HTTPConnection, HTTP2Streams>>
  typealias HTTP2Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<HTTPConnection>

  struct Value: ServerChildChannelValue {
    let channel: any Channel
    let negotiation: Negotiation
  }

  let connections: HTTP1Connections
  let security: any TransportSecurity

  var responder: Responder { connections.responder }
  private var routes: Routes { connections.routes }
  private var settings: Settings { routes.settings }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let place = ConnectionPlace(connections.places, channel, patience: settings.patience)
      let loop = routes.loops[channel.eventLoop].value
      let connection = SecureConnection(loop, place)
      let boundConnection = NIOLoopBound(connection, eventLoop: channel.eventLoop)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandlers([security.makeServerHandler(), connection])
      return boundConnection
    }.flatMap { (connection: NIOLoopBound<SecureConnection>) in
      channel.configureHTTP2AsyncSecureUpgrade { channel in
        channel.eventLoop.makeCompletedFuture {
          try connections.setup(channel, connection.value.place, scheme: "https", logger)
        }
      } http2ConnectionInitializer: { channel in
        channel.eventLoop.makeCompletedFuture { try setupHTTP2(channel, connection) }
      }
    }.map { Value(channel: channel, negotiation: $0) }
  }

  private func setupHTTP2(
    _ channel: any Channel, _ connection: NIOLoopBound<SecureConnection>
  ) throws -> HTTP2Streams {
    var configuration = NIOHTTP2Handler.Configuration()
    configuration.connection.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: settings.maxStreamsPerConnection),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 80 << 10),
    ]
    let pipeline = channel.pipeline.syncOperations
    // Ends the connection at shutdown, and when `SecureConnection` finds it idle.
    let shutdown = NIOHTTP2ServerConnectionManagementHandler(
      eventLoop: channel.eventLoop,
      configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
    let streams = try pipeline.configureAsyncHTTP2Pipeline(
      mode: .server, streamDelegate: shutdown.http2StreamDelegate, configuration: configuration
    ) { stream in
      stream.eventLoop.makeCompletedFuture { try setupStream(stream, connection.value) }
    }
    try pipeline.addHandler(shutdown)
    return streams
  }

  private func setupStream(
    _ stream: any Channel, _ connection: SecureConnection
  ) throws -> HTTPConnection {
    let place = ConnectionPlace(connections.places, stream, patience: settings.patience)
    let pipeline = stream.pipeline.syncOperations
    try pipeline.addHandler(HTTP2FramePayloadToHTTPServerCodec())
    try pipeline.addHandler(
      HTTP2Codec(settings.logger, settings.accessLog, connection, place))
    try pipeline.addHandler(Connection(routes.loops))
    return try HTTPConnection(stream, routes)
  }

  func handle(value: Value, logger: Logger) async {
    let negotiated = try? await withTaskCancellationHandler {
      try await value.negotiation.get()
    } onCancel: {
      value.channel.close(promise: nil)
    }
    switch negotiated {
    case .http1_1(let connection): await connections.handle(value: connection, logger: logger)
    case .http2(let streams): await handle(streams, logger)
    // The handshake has failed.
    case nil: break
    }
  }

  private func handle(_ streams: HTTP2Streams, _ logger: Logger) async {
    await withDiscardingTaskGroup { group in
      do {
        for try await stream in streams.inbound {
          group.addTask { await connections.handle(value: stream, logger: logger) }
        }
      } catch {
        // The streams of a connection with an error are closed.
        logger.debug("a connection of HTTP/2 has ended: \(error)")
      }
    }
  }
}
