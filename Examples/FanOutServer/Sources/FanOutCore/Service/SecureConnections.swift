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
      let connection = SecureConnection(loop, place, settings.logger)
      let boundConnection = NIOLoopBound(connection, eventLoop: channel.eventLoop)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandlers([security.makeServerHandler(), connection])
      return boundConnection
    }.flatMap { (connection: NIOLoopBound<SecureConnection>) in
      channel.configureHTTP2AsyncSecureUpgrade { channel in
        channel.eventLoop.makeCompletedFuture {
          try connections.setup(channel, connection.value.place, scheme: "https")
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
    let hasPlace = connection.value.place.admission == .all
    configuration.connection.initialSettings = [
      HTTP2Setting(
        parameter: .maxConcurrentStreams, value: hasPlace ? settings.maxStreamsPerConnection : 1),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 80 << 10),
    ]
    let pipeline = channel.pipeline.syncOperations
    // Ends the connection at shutdown, and when `SecureConnection` finds it idle.
    let management = NIOHTTP2ServerConnectionManagementHandler(
      eventLoop: channel.eventLoop,
      configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
    let errors = ConnectionErrors(connection)
    let streams = try pipeline.configureAsyncHTTP2Pipeline(
      mode: .server, streamDelegate: management.http2StreamDelegate,
      frameDelegate: errors, configuration: configuration
    ) { stream in
      stream.eventLoop.makeCompletedFuture { try setupStream(stream, connection.value) }
    }
    try pipeline.addHandlers([management, errors])
    return streams
  }

  private func setupStream(
    _ stream: any Channel, _ connection: SecureConnection
  ) throws -> HTTPConnection {
    let place = ConnectionPlace(connections.places, stream, patience: settings.patience)
    let loop = routes.loops[stream.eventLoop].value
    let pipeline = stream.pipeline.syncOperations
    try pipeline.addHandler(HTTP2FramePayloadToHTTPServerCodec())
    try pipeline.addHandler(
      HTTP2Exchange(
        settings.logger, settings.accessLog, connection, Connection(loop), place,
        settings.trustedProxies))
    return try HTTPConnection(stream, nil, routes)
  }

  func handle(value: Value, logger: Logger) async {
    let negotiated = try? await withTaskCancellationHandler {
      try await value.negotiation.get()
    } onCancel: {
      value.channel.close(promise: nil)
    }
    switch negotiated {
    case .http1_1(let connection): await connections.handle(value: connection, logger: logger)
    case .http2(let streams):
      // Throws only errors of the connection, whose streams are closed.
      try? await handle(streams, logger)
    // The handshake has failed.
    case nil: break
    }
  }

  private func handle(_ streams: HTTP2Streams, _ logger: Logger) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for try await stream in streams.inbound {
        group.addTask { await connections.handle(value: stream, logger: logger) }
      }
    }
  }
}

/// Closes a connection after an error of HTTP/2, which NIO only tells the client.
private final class ConnectionErrors: ChannelInboundHandler, NIOHTTP2FrameDelegate {
  typealias InboundIn = HTTP2Frame

  private let connection: NIOLoopBound<SecureConnection>

  init(_ connection: NIOLoopBound<SecureConnection>) {
    self.connection = connection
  }

  func wroteFrame(_ frame: HTTP2Frame) {
    guard case .goAway(_, let code, _) = frame.payload, code != .noError else { return }
    connection.value.closeSoon()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // NIO could not tell it, because the connection was ending already. Other errors are those of
    // streams, or follow a frame.
    if error is NIOHTTP2Errors.RaisedGoawayLastStreamID { connection.value.closeSoon() }
    context.fireErrorCaught(error)
  }
}
