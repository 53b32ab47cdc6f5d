internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP2
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP2

/// Checks the request of an HTTP/2 stream, and writes its line of the access log.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class HTTP2Exchange: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let logger: Logger
  private let accessLog: AccessLog?
  private let secureConnection: SecureConnection
  /// The requests of the stream: one.
  private let connection: Connection
  private let place: ConnectionPlace
  private let proxies: TrustedProxies
  private var entry: AccessEntry?
  /// The stream of events that the response is, for the number of its bytes.
  private var stream: EventStream?
  private var isReceiving = false
  private var isRefused = false

  /// - Parameter place: that of the request.
  init(
    _ logger: Logger, _ accessLog: AccessLog?, _ secureConnection: SecureConnection,
    _ connection: Connection, _ place: ConnectionPlace, _ proxies: TrustedProxies
  ) {
    self.secureConnection = secureConnection
    self.proxies = proxies
    self.logger = logger
    self.accessLog = accessLog
    self.connection = connection
    self.place = place
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connection.begin(context.channel)
    secureConnection.requestBegins()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    connection.end()
    secureConnection.requestEnds()
    place.release()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isRefused else { return }
    switch unwrapInboundIn(data) {
    case .head(let head): receive(head, context)
    case .body: context.fireChannelRead(data)
    case .end:
      isReceiving = false
      connection.requestIsReceived()
      place.requestIsComplete()
      secureConnection.place.requestIsComplete()
      context.fireChannelRead(data)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head):
      if head.status.kind != .informational {
        head.headerFields[.xContentTypeOptions] = "nosniff"
        head.headerFields.doNotIndexChangingFields()
        entry?.status = head.status.code
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body(let body):
      entry?.bytes += body.readableBytes
      context.write(data, promise: promise)
    case .end:
      context.write(data, promise: promise)
      logAccess()
      if !isRefused { connection.responseEnds(nil) }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard let begins = event as? Connection.StreamBegins else {
      return context.fireUserInboundEventTriggered(event)
    }
    begins.stream.isChunked = false
    if accessLog != nil { stream = begins.stream }
    connection.streamBegins()
  }

  /// A stream, and a request without a response, get their lines at the end.
  func channelInactive(context: ChannelHandlerContext) {
    // Not in `handlerRemoved`, which comes after the next request of the connection.
    place.release()
    // Otherwise the responder takes what there is for the whole body.
    if isReceiving { context.fireErrorCaught(ChannelError.eof) }
    isReceiving = false
    if let stream { entry?.bytes = stream.bytes }
    stream = nil
    logAccess()
    context.fireChannelInactive()
  }

  /// The client has closed the stream, or its frames are malformed. The stream ends by itself, or
  /// here.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    logger.debug("a stream of HTTP/2 ends: \(error)")
    // For the responder, which has the request.
    if isReceiving { context.fireErrorCaught(error) }
    isReceiving = false
    // Later: if a stream ends while NIO begins it, NIO records the end before the beginning.
    let channel = context.channel
    context.eventLoop.execute { channel.close(promise: nil) }
  }
}

extension HTTP2Exchange {
  private func receive(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
    let address = proxies.client(
      of: context.channel.remoteAddress, head.headerFields[values: .forwardedFor])
    if accessLog != nil { entry = AccessEntry(head, address) }
    do throws(RequestError) {
      let target = try RequestTarget(http2: head)
      try secureConnection.place.check(target)
      try place.check(target)
      var request = head
      request.authority = target.authority
      request.path = target.path
      isReceiving = true
      connection.requestBegins()
      context.fireChannelRead(wrapInboundOut(.head(request)))
    } catch {
      refuse(error, head.method, address, context)
    }
  }

  private func refuse(
    _ refusal: RequestError, _ method: HTTPRequest.Method, _ address: SocketAddress?,
    _ context: ChannelHandlerContext
  ) {
    isRefused = true
    logger.refused(refusal, address)
    let body = ByteBuffer(string: refusal.json)
    var head = refusal.response.head
    head.headerFields[.contentLength] = "\(body.readableBytes)"
    head.headerFields[.date] = Timestamp.httpDateNow
    write(context: context, data: wrapOutboundOut(.head(head)), promise: nil)
    if method != .head {
      write(context: context, data: wrapOutboundOut(.body(body)), promise: nil)
    }
    let end = context.eventLoop.makePromise(of: Void.self)
    write(context: context, data: wrapOutboundOut(.end(nil)), promise: end)
    context.flush()
    // The rest of the request is not wanted (RFC 9113, section 8.1). Without effect if there is
    // none.
    let channel = context.channel
    end.futureResult.whenSuccess {
      channel.triggerUserOutboundEvent(
        NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
    }
    // The client may take none of it.
    connection.requestIsRefused(nil)
  }

  private func logAccess() {
    guard let accessLog, var entry else { return }
    self.entry = nil
    entry.finish()
    accessLog.write(entry.line(accessLog.format))
  }
}

extension HTTPFields {
  /// Keeps the fields whose values change out of the dynamic table of HPACK (RFC 7541). A client
  /// may allow a table of any size, and the server has the same one: for each connection it would
  /// keep the date of each second with a response, and search all of them for the next one.
  fileprivate mutating func doNotIndexChangingFields() {
    for index in indices where [.date, .contentLength].contains(self[index].name) {
      self[index].indexingStrategy = .avoid
    }
  }
}
