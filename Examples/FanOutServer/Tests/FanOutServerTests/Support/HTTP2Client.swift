import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A connection of HTTP/2 that sends arbitrary header fields, and whose streams read only on
/// request.
struct HTTP2Client: Sendable {
  private let channel: any Channel
  private let streams: NIOHTTP2Handler.StreamMultiplexer
  private let raw: NIOLoopBound<RawFrames>
  /// Completes when the server has said which streams are the last.
  private let lastStreams: EventLoopFuture<Void>

  /// - Parameter window: the bytes that the server may send on a stream before the client reads.
  static func connect(
    port: Int, _ certificate: TestCertificate, window: Int = 65_535
  ) async throws -> HTTP2Client {
    var tls = try certificate.clientConfiguration
    tls.applicationProtocols = ["h2"]
    let context = try NIOSSLContext(configuration: tls)
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [HTTP2Setting(parameter: .initialWindowSize, value: window)]
    configuration.targetWindowSize = max(window, configuration.targetWindowSize)
    // It sends what a client must not send.
    configuration.headerBlockValidation = .disabled
    let connection = configuration
    return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
      host: "localhost", port: port
    ) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          NIOSSLClientHandler(context: context, serverHostname: "localhost"))
        let raw = RawFrames()
        try channel.pipeline.syncOperations.addHandler(raw)
        let streams = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
          mode: .client, connectionConfiguration: connection, streamConfiguration: .init()
        ) { $0.eventLoop.makeSucceededVoidFuture() }
        let lastStreams = channel.eventLoop.makePromise(of: Void.self)
        // Also of a channel that never became active: one that lost against another address of the
        // host.
        channel.closeFuture.whenComplete { _ in lastStreams.fail(ChannelError.ioOnClosedChannel) }
        try channel.pipeline.syncOperations.addHandler(GoAways(lastStreams))
        return HTTP2Client(
          channel: channel, streams: streams,
          raw: NIOLoopBound(raw, eventLoop: channel.eventLoop),
          lastStreams: lastStreams.futureResult)
      }
    }
  }

  /// Sends a request with the given fields, and without a body unless it follows.
  ///
  /// - Parameter onlyKept: whether the response has only those header fields that the server wants
  ///   the client to keep for later ones.
  /// - Returns: the response: the header fields as lines, an empty line, and the body.
  func request(
    _ fields: [(String, String)], hasBody: Bool = false, onlyKept: Bool = false
  ) async throws -> RawClient {
    let channel = channel
    let promise = channel.eventLoop.makePromise(of: RawClient.self)
    streams.createStreamChannel(promise: nil) { stream in
      stream.setOption(.autoRead, value: false).flatMapThrowing {
        try stream.pipeline.syncOperations.addHandler(
          HeadersAsText(HPACKHeaders(fields), hasBody: hasBody, onlyKept: onlyKept))
        promise.succeed(try RawClient(on: stream))
      }
    }
    channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.ioOnClosedChannel) }
    return try await promise.futureResult.get()
  }

  /// Gets a path.
  func get(_ path: String, _ fields: [(String, String)] = []) async throws -> RawClient {
    try await request(Self.head("GET", path) + fields)
  }

  static func head(_ method: String, _ path: String) -> [(String, String)] {
    [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
  }

  /// Reads nothing from now on.
  func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

  /// Waits until the server has said which streams are the last.
  func waitForLastStreams() async throws { try await lastStreams.get() }

  /// Sends bytes beside the frames of the connection.
  func send(_ bytes: [UInt8]) async throws {
    try await channel.eventLoop.flatSubmit { raw.value.send(bytes) }.get()
  }

  /// Waits until the server has closed the connection.
  func waitForEnd() async throws { try await channel.closeFuture.get() }

  func close() async { try? await channel.close() }
}

/// Sends bytes that are no frames of NIO.
private final class RawFrames: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func send(_ bytes: [UInt8]) -> EventLoopFuture<Void> {
    guard let context else { preconditionFailure("the connection is closed") }
    return context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)))
  }
}

/// Waits for the second GOAWAY: the first one has no last stream yet.
private final class GoAways: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let promise: EventLoopPromise<Void>
  private var count = 0

  init(_ promise: EventLoopPromise<Void>) {
    self.promise = promise
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .goAway = unwrapInboundIn(data).payload else { return }
    count += 1
    if count == 2 { promise.succeed() }
  }
}

/// Sends the head of a request, makes the head of the response lines of text, and bodies bytes.
private final class HeadersAsText: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let headers: HPACKHeaders
  private let hasBody: Bool
  private let onlyKept: Bool

  init(_ headers: HPACKHeaders, hasBody: Bool, onlyKept: Bool) {
    self.headers = headers
    self.hasBody = hasBody
    self.onlyKept = onlyKept
  }

  func channelActive(context: ChannelHandlerContext) {
    let payload = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: !hasBody)
    context.writeAndFlush(wrapOutboundOut(.headers(payload)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let payload):
      let fields = payload.headers.filter { !onlyKept || $0.indexable == .indexable }
      let lines = fields.map { "\($0.name): \($0.value)\n" }.joined()
      context.fireChannelRead(wrapInboundOut(ByteBuffer(string: lines + "\n")))
    case .data(let payload):
      if case .byteBuffer(let bytes) = payload.data {
        context.fireChannelRead(wrapInboundOut(bytes))
      }
    default: break
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let payload = HTTP2Frame.FramePayload.Data(data: .byteBuffer(unwrapOutboundIn(data)))
    context.write(wrapOutboundOut(.data(payload)), promise: promise)
  }
}
