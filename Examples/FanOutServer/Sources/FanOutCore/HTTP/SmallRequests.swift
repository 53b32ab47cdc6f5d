internal import DequeModule
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Answers the requests of a connection, until one of them asks for a stream or is not small.
///
/// A request that asks for a stream makes the connection that stream, and nothing stays of what
/// reads requests: most connections of a server are idle streams. A large request, one that waits
/// for `100 Continue`, and one whose body is malformed or ends early, hand the connection over to
/// Hummingbird, which reads that request and those after it from an asynchronous channel, as they
/// arrive. That channel and its task take as much memory as an idle stream, and processor time for
/// each request.
///
/// While a request is answered, a connection of HTTP/1 is read once more, and not at all while the
/// client does not read the responses. What has been read by then is held back. Most clients send
/// nothing before they have the response, so there are no system calls to stop reading and to go on
/// with it.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class SmallRequests: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// The channel from which Hummingbird reads requests.
  typealias LargeRequests = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

  /// The bytes of a body that are held in memory before it is known whether the client may send
  /// them.
  private static let largestBody = 64 << 10

  private enum State {
    case receiving
    case answering
    /// The client does not read the responses.
    case blocked
    /// The last response is written. What the client sends is ignored.
    case closing
    /// The connection is a stream, or Hummingbird has it.
    case over
  }

  private let routes: Routes
  /// What writes whole responses of HTTP/1; `nil`: the connection is a stream of HTTP/2.
  private let codec: HTTP1Codec?
  private let promise: EventLoopPromise<LargeRequests?>
  private var state = State.receiving
  /// The head of the request that is received.
  private var head: HTTPRequest?
  /// What there is of its body.
  private var body = ByteBuffer()
  /// What was received behind the request.
  private var next: Deque<HTTPRequestPart> = []
  /// What ended the input behind that.
  private var inputError: (any Error)?
  /// Whether the client has closed its side.
  private var isInputClosed = false
  /// Whether the channel wants to read, which waits for the response.
  private var isReadPending = false
  /// Completes when the newest response has reached the socket; `nil` before the first one.
  private var written: EventLoopFuture<Void>?
  private var context: ChannelHandlerContext?

  /// - Parameter promise: succeeds when the connection is handed over, or, with `nil`, when it
  ///   ends.
  init(_ routes: Routes, _ codec: HTTP1Codec?, _ promise: EventLoopPromise<LargeRequests?>) {
    self.routes = routes
    self.codec = codec
    self.promise = promise
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    // Without effect after the hand-over. A request that is being answered keeps the server
    // running.
    if state != .answering { promise.succeed(nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch state {
    case .receiving, .answering, .blocked:
      next.append(unwrapInboundIn(data))
      advance(context)
    case .closing: break
    case .over: context.fireChannelRead(data)
    }
  }

  func read(context: ChannelHandlerContext) {
    // On HTTP/2 no request follows: there it reads on, so that frames do not pile up.
    if codec != nil, state == .blocked || state == .answering && !next.isEmpty {
      isReadPending = true
    } else {
      context.read()
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    guard state == .blocked else { return }
    goOn(context)
    advance(context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed = event, state != .over else {
      return context.fireUserInboundEventTriggered(event)
    }
    isInputClosed = true
    advance(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard state != .over else { return context.fireErrorCaught(error) }
    inputError = error
    advance(context)
  }
}

// MARK: - Receiving

extension SmallRequests {
  /// Takes what was received, up to the end of a request.
  private func advance(_ context: ChannelHandlerContext) {
    while state == .receiving, let part = next.popFirst() {
      switch part {
      case .head(let head):
        self.head = head
        if !isSmall(head) { handOver(context) }
      case .body(let bytes):
        // Into one buffer, because parts may be as small as a byte.
        if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
        if body.readableBytes > Self.largestBody { handOver(context) }
      case .end: answer(context)
      }
    }
    if state == .receiving, isInputClosed || inputError != nil {
      // Hummingbird answers a request whose body ends early.
      if head == nil { close(context) } else { handOver(context) }
    }
    // Last: what has been received may not be answered yet.
    read()
  }

  private func isSmall(_ head: HTTPRequest) -> Bool {
    let length = head.headerFields.value(of: .contentLength).map { Int($0) ?? .max } ?? 0
    return length <= Self.largestBody && !head.headerFields.contains(.expect)
  }

  /// Answers the request that was received.
  private func answer(_ context: ChannelHandlerContext) {
    guard let head else { return context.close(promise: nil) }
    state = .answering
    let request = IncomingRequest(head: head, body: .received(body), channel: context.channel)
    self.head = nil
    body = ByteBuffer()
    switch routes.answer(request) {
    case .now(let answer): finish(answer, to: head)
    case .later(let work):
      let this = NIOLoopBound(self, eventLoop: context.eventLoop)
      Task.detached(executorPreference: routes.loops.executor(of: context.eventLoop)) {
        let answer = await work()
        this.value.finish(answer, to: head)
        if let context = this.value.context { this.value.advance(context) }
      }
    }
  }
}

// MARK: - Responses

extension SmallRequests {
  private func finish(_ answer: Routes.Answer, to request: HTTPRequest) {
    guard let context else { return promise.succeed(nil) }
    switch answer {
    case .stream(let stream): become(stream, context)
    case .response(let response): write(response, to: request, context)
    }
  }

  private func write(
    _ response: WholeResponse, to request: HTTPRequest, _ context: ChannelHandlerContext
  ) {
    let end = context.eventLoop.makePromise(of: Void.self)
    written = end.futureResult
    if let codec {
      codec.write(response, promise: end)
    } else {
      context.write(wrapOutboundOut(.head(response.head.dated)), promise: nil)
      if response.body.readableBytes > 0 {
        context.write(wrapOutboundOut(.body(response.body)), promise: nil)
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
    }
    let isLast = request.headerFields.value(of: .connection) == "close"
    if isLast { close(context) } else { goOn(context) }
  }

  /// Lets the next request be received, if the client reads the responses.
  private func goOn(_ context: ChannelHandlerContext) {
    state = context.channel.isWritable ? .receiving : .blocked
  }

  /// Closes the server's side behind the last response, and so the connection if the client has
  /// closed its side.
  private func close(_ context: ChannelHandlerContext) {
    state = .closing
    guard let written else { return context.close(mode: .output, promise: nil) }
    // Only then, because writes that wait would be lost if the client has closed its side.
    // Checks that this is the event loop: so the closure need not be Sendable.
    written.assumeIsolated().whenComplete { _ in
      self.context?.close(mode: .output, promise: nil)
    }
  }

  /// Makes up for the read that waited.
  private func read() {
    guard isReadPending, state != .answering, state != .blocked, let context else { return }
    isReadPending = false
    context.channel.read()
  }

  private func become(_ stream: OpenStream, _ context: ChannelHandlerContext) {
    // A client with a stream sends nothing, and does not close its side.
    guard next.isEmpty, inputError == nil, !isInputClosed else { return abort(context) }
    state = .over
    context.write(wrapOutboundOut(.head(stream.head.dated)), promise: nil)
    do {
      let pipeline = context.pipeline.syncOperations
      try pipeline.add(stream.stream.value)
      try pipeline.removeRequestHandlers()
      read()
      pipeline.removeHandler(self, promise: nil)
    } catch {
      // The connection is closed.
      abort(context)
    }
  }

  private func abort(_ context: ChannelHandlerContext) {
    state = .closing
    context.close(promise: nil)
  }

  /// Gives the connection to Hummingbird.
  private func handOver(_ context: ChannelHandlerContext) {
    state = .over
    do {
      promise.succeed(
        try LargeRequests(
          wrappingChannelSynchronously: context.channel,
          configuration: .init(isOutboundHalfClosureEnabled: true)))
    } catch {
      return context.close(promise: nil)
    }
    if let head { context.fireChannelRead(wrapInboundOut(.head(head))) }
    if body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(body))) }
    for part in next { context.fireChannelRead(wrapInboundOut(part)) }
    context.fireChannelReadComplete()
    if let inputError { context.fireErrorCaught(inputError) }
    if isInputClosed { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    read()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}

extension HTTPResponse {
  fileprivate var dated: HTTPResponse {
    var response = self
    response.headerFields[.date] = Timestamp.httpDateNow
    return response
  }
}
