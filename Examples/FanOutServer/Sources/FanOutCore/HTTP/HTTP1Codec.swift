internal import DequeModule
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Translates between HTTP/1 and the types of the responder, and refuses requests that a server
/// must refuse by RFC 9112.
///
/// A refusal waits for the responses to earlier requests of the connection. Then the server closes
/// its side, and discards input until the client closes too, so that the client can read the
/// response.
///
/// A response to HTTP/1.0 is not chunked: it ends with the connection.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class HTTP1Codec: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let logger: Logger
  private let accessLog: AccessLog?
  /// The scheme of absolute targets.
  private let scheme: String
  private let connection: Connection
  private let place: ConnectionPlace
  private let proxies: TrustedProxies
  /// The requests without a line in the access log, oldest first.
  private var entries: Deque<AccessEntry> = []
  /// The stream of the connection, for the number of its bytes.
  private var stream: EventStream?
  /// Requests whose response is not complete.
  private var pendingResponses = 0
  /// Whether the body of a request is being received.
  private var isReceivingBody = false
  /// Whether no request follows the newest one.
  private var isLast = false
  /// Whether the decoder does not decode what follows the newest request.
  private var isUpgrade = false
  /// Whether the newest request has version 1.0.
  private var isOld = false
  /// The refusal that follows the pending responses.
  private var refusal: RequestError?
  /// Whether the refused request is `HEAD`, whose response has no body.
  private var isHeadRefused = false
  private var isRefused = false
  /// The context of SwiftNIO's encoder, until a stream begins. What is written with it goes to the
  /// handler before the encoder, so it is not encoded.
  private var encoder: ChannelHandlerContext?
  private var context: ChannelHandlerContext?

  init(
    _ logger: Logger, _ accessLog: AccessLog?, _ connection: Connection, _ place: ConnectionPlace,
    scheme: String = "http", proxies: TrustedProxies = TrustedProxies()
  ) {
    self.connection = connection
    self.proxies = proxies
    self.logger = logger
    self.accessLog = accessLog
    self.place = place
    self.scheme = scheme
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connection.begin(context.channel)
    self.context = context
    encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    encoder = nil
    // Of what was decoded after the end of the connection.
    logRequestsWithoutResponse()
    connection.end()
    place.release()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isRefused else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      // What follows the last request of a connection is not a request (RFC 9112, section 9.6).
      guard !isLast else { return }
      receive(head, context)
    case .body(let bytes):
      if isReceivingBody { context.fireChannelRead(wrapInboundOut(.body(bytes))) }
    case .end(let trailers):
      guard isReceivingBody else { return }
      isReceivingBody = false
      connection.requestIsReceived()
      place.requestIsComplete()
      if isUpgrade { context.pipeline.syncOperations.discardInput() }
      let fields = trailers.map { HTTPFields($0, splitCookie: false) }
      context.fireChannelRead(wrapInboundOut(.end(fields)))
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // A request whose body turns out to be malformed after its response gets no second one.
    guard pendingResponses > 0 else {
      promise?.succeed()
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(let response):
      guard let head = head(of: response) else {
        promise?.succeed()
        return
      }
      if response.status.kind != .informational, !entries.isEmpty {
        entries[0].status = response.status.code
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body(let body):
      if !entries.isEmpty { entries[0].bytes += body.readableBytes }
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
    case .end(let trailers):
      let end = promise ?? context.eventLoop.makePromise()
      context.write(wrapOutboundOut(.end(trailers.map(HTTPHeaders.init))), promise: end)
      responseEnds(end.futureResult, context)
    }
  }

  /// Writes a response and flushes it.
  ///
  /// - Parameter promise: completes when it has reached the socket.
  func write(_ response: WholeResponse, promise: EventLoopPromise<Void>) {
    // As in `write(context:data:promise:)`.
    guard pendingResponses > 0, let context, let encoder else { return promise.succeed() }
    if !entries.isEmpty {
      entries[0].status = response.status.code
      entries[0].bytes = response.body.readableBytes
    }
    let (first, body) = response.encoded(
      isOld && pendingResponses == 1 ? .http1_0 : .http1_1, isLast: beginsLastResponse(),
      context.channel.allocator)
    encoder.write(NIOAny(first), promise: body == nil ? promise : nil)
    if let body { encoder.write(NIOAny(body), promise: promise) }
    // Before the flush, which may find that the client has closed the connection.
    responseEnds(promise.futureResult, context)
    encoder.flush()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let begins as Connection.StreamBegins:
      begins.stream.isChunked = !isOld
      if accessLog != nil { stream = begins.stream }
      encoder = nil
      connection.streamBegins()
    case is ChannelShouldQuiesceEvent: connection.quiesce()
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  /// A stream, and a request without a response, get their lines at the end.
  func channelInactive(context: ChannelHandlerContext) {
    if let stream, !entries.isEmpty { entries[0].bytes = stream.bytes }
    stream = nil
    logRequestsWithoutResponse()
    context.fireChannelInactive()
  }

  /// An error in a body is for the responder, which has the request.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    guard !isRefused, !isLast || isReceivingBody else { return }
    guard !isReceivingBody else {
      isLast = true
      return context.fireErrorCaught(error)
    }
    guard context.channel.isActive else { return }
    refuse(RequestError(error), context)
  }
}

// MARK: - Requests

extension HTTP1Codec {
  private func receive(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    do throws(RequestError) {
      let request = try request(head)
      isReceivingBody = true
      pendingResponses += 1
      connection.requestBegins()
      if accessLog != nil { entries.append(AccessEntry(head, client(of: head, context))) }
      context.fireChannelRead(wrapInboundOut(.head(request)))
    } catch {
      refuse(error, context, head)
    }
  }

  /// The address of the client.
  private func client(
    of head: HTTPRequestHead?, _ context: ChannelHandlerContext
  ) -> SocketAddress? {
    proxies.client(of: context.channel.remoteAddress, head?.headers["x-forwarded-for"] ?? [])
  }

  private func request(_ head: HTTPRequestHead) throws(RequestError) -> HTTPRequest {
    let target = try RequestTarget(head, scheme)
    try place.check(target)
    guard let method = try? HTTPRequest.Method(head.method) else {
      throw .badRequest("the method is not valid")
    }
    var fields = HTTPFields(head.headers, splitCookie: false)
    isOld = head.version == .http1_0
    // `isKeepAlive` reads the list of the header field `Connection`. What follows a request with
    // `Upgrade`, which this server ignores, the parser takes for the other protocol.
    isUpgrade = head.headers.contains(name: "upgrade")
    isLast = isOld || !head.isKeepAlive || isUpgrade || place.admission != .all
    fields[.connection] = isLast ? "close" : nil
    // A client of HTTP/1.0 knows no interim responses.
    if isOld { fields[.expect] = nil }
    return HTTPRequest(
      method: method, scheme: scheme, authority: target.authority, path: target.path,
      headerFields: fields)
  }
}

// MARK: - The access log

extension HTTP1Codec {
  /// Writes the line of the oldest request.
  private func logAccess() {
    guard let accessLog, var entry = entries.popFirst() else { return }
    entry.finish()
    accessLog.write(entry.line(accessLog.format))
  }

  private func logRequestsWithoutResponse() {
    while !entries.isEmpty { logAccess() }
  }
}

// MARK: - Responses

extension HTTP1Codec {
  /// The oldest response is complete.
  ///
  /// - Parameter written: completes when it has reached the socket.
  private func responseEnds(_ written: EventLoopFuture<Void>, _ context: ChannelHandlerContext) {
    pendingResponses -= 1
    logAccess()
    connection.responseEnds(written)
    guard pendingResponses == 0 else { return }
    // The client must close now.
    if isLast { place.expectRequest(context.channel) }
    if let refusal { write(refusal, context) }
  }

  /// - Returns: `nil` for an interim response that the client does not know.
  private func head(of response: HTTPResponse) -> HTTPResponseHead? {
    var head = HTTPResponseHead(response)
    let isOld = isOld && pendingResponses == 1
    guard response.status.kind != .informational else { return isOld ? nil : head }
    if response.headerFields.value(of: .xContentTypeOptions) != "nosniff" {
      head.headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
    }
    if beginsLastResponse() { head.headers.replaceOrAdd(name: "Connection", value: "close") }
    if isOld { head.version = .http1_0 }
    return head
  }

  /// Whether the connection closes behind the response that begins, which says so.
  ///
  /// During a shutdown this makes the request of the response the last one: a request that follows
  /// it, even one that was received before, is not taken (RFC 9112, section 9.6).
  private func beginsLastResponse() -> Bool {
    // A refusal behind it says so itself.
    guard pendingResponses == 1, refusal == nil else { return false }
    if connection.isQuiescing { isLast = true }
    return isLast
  }

  private func refuse(
    _ refusal: RequestError, _ context: ChannelHandlerContext, _ head: HTTPRequestHead? = nil
  ) {
    isRefused = true
    isHeadRefused = head?.method == .HEAD
    context.pipeline.syncOperations.discardInput()
    let address = client(of: head, context)
    if accessLog != nil { entries.append(AccessEntry(head, address)) }
    logger.refused(refusal, address)
    if pendingResponses == 0 { write(refusal, context) } else { self.refusal = refusal }
  }

  private func write(_ refusal: RequestError, _ context: ChannelHandlerContext) {
    self.refusal = nil
    let body = ByteBuffer(string: refusal.json)
    var headers: HTTPHeaders = [
      "Content-Type": "application/json; charset=utf-8", "Content-Length": "\(body.readableBytes)",
      "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Connection": "close",
      "Date": Timestamp.httpDateNow,
    ]
    for field in refusal.headers { headers.add(name: field.name.rawName, value: field.value) }
    let status = HTTPResponseStatus(statusCode: refusal.status.code)
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    // Before the flush, which may find that the client has closed the connection.
    if !entries.isEmpty {
      entries[0].status = refusal.status.code
      entries[0].bytes = isHeadRefused ? 0 : body.readableBytes
    }
    logAccess()
    let end = context.eventLoop.makePromise(of: Void.self)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !isHeadRefused { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
    context.close(mode: .output, promise: nil)
    connection.requestIsRefused(end.futureResult)
  }
}

extension RequestError {
  fileprivate init(_ error: HTTPParserError) {
    switch error {
    case .headerOverflow:
      self.init(.requestHeaderFieldsTooLarge, "the head of the request is too long")
    case .invalidVersion:
      self.init(.httpVersionNotSupported, "this server takes HTTP/1.1 and HTTP/1.0")
    case .invalidMethod:
      self.init(.badRequest, "the method is unknown, or this is not a request of HTTP/1.1")
    case .invalidEOFState: self.init(.badRequest, "the request ends too early")
    default: self.init(.badRequest, "this is not a request of HTTP/1.1")
    }
  }
}
