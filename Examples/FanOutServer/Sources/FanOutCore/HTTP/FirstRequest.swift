internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import HummingbirdCore

/// Holds the first request of a connection back until it is known what the connection is for.
///
/// If the request asks for a stream, the connection becomes that stream, and nothing stays of what serves
/// requests: most connections of a server are idle streams, and the task that serves requests takes almost as
/// much memory as all the rest. Otherwise the connection gets the channel from which the server reads this
/// request and those after it.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class FirstRequest: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// The channel from which the server reads requests.
  typealias Requests = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

  private enum State {
    /// Until the end of the request.
    case receiving
    case opening
    case done
  }

  private let routes: Routes
  private let promise: EventLoopPromise<Requests?>
  private var state = State.receiving
  /// What was received.
  private var parts: [HTTPRequestPart] = []
  /// Whether the channel wants to read, which waits until the stream is open.
  private var isReadPending = false
  /// Whether the client has closed its side meanwhile.
  private var isInputClosed = false
  private var context: ChannelHandlerContext?

  /// - Parameter promise: succeeds with `nil` if the connection is a stream, or is closed.
  init(_ routes: Routes, _ promise: EventLoopPromise<Requests?>) {
    self.routes = routes
    self.promise = promise
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    guard state != .done else { return }
    state = .done
    promise.succeed(nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state != .done else { return context.fireChannelRead(data) }
    parts.append(unwrapInboundIn(data))
    guard state == .receiving, case .head(let request) = parts[0] else { return }
    switch parts.last {
    case .head where Route.parse(request.path).route?.isStream == true && request.method == .get:
      return
    case .end where parts.count == 2: open(request, context)
    default: serve(context)
    }
  }

  func read(context: ChannelHandlerContext) {
    // What a client sends before it has its response waits in the socket.
    if state == .opening { isReadPending = true } else { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard state != .done, case ChannelEvent.inputClosed = event else {
      return context.fireUserInboundEventTriggered(event)
    }
    isInputClosed = true
    if state == .receiving { serve(context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if state == .receiving { serve(context, after: error) } else { context.fireErrorCaught(error) }
  }
}

extension FirstRequest {
  private func open(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
    state = .opening
    let (channel, routes) = (context.channel, routes)
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    Task.detached(executorPreference: routes.loops.executor(of: context.eventLoop)) {
      let stream = await routes.openStream(request, channel)
      this.value.finish(stream)
    }
  }

  private func finish(_ stream: OpenStream?) {
    // If the connection is closed, the stream ends here.
    guard let context, context.channel.isActive else { return }
    guard let stream else { return serve(context) }
    // A client with a stream sends nothing, and does not close its side.
    guard parts.count == 2, !isInputClosed else { return context.close(promise: nil) }
    state = .done
    promise.succeed(nil)
    context.write(wrapOutboundOut(.head(stream.head)), promise: nil)
    do {
      let pipeline = context.pipeline.syncOperations
      try pipeline.addHandler(stream.stream.value, position: .first)
      try pipeline.removeHandler(ofType: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.removeHandler(ofType: HTTPResponseEncoder.self)
      try pipeline.removeHandler(ofType: HTTPConnectionStateHandler.self)
      pipeline.removeHandler(self, promise: nil)
      if isReadPending { context.channel.read() }
    } catch {
      // The connection is closed.
      context.close(promise: nil)
    }
  }

  /// Gives the connection to the server.
  ///
  /// - Parameter error: what ended the request.
  private func serve(_ context: ChannelHandlerContext, after error: (any Error)? = nil) {
    state = .done
    do {
      promise.succeed(
        try Requests(
          wrappingChannelSynchronously: context.channel,
          configuration: .init(isOutboundHalfClosureEnabled: true)))
    } catch {
      promise.succeed(nil)
      return context.close(promise: nil)
    }
    for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
    context.fireChannelReadComplete()
    parts = []
    if let error { context.fireErrorCaught(error) }
    if isInputClosed { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    if isReadPending { context.channel.read() }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}

extension ChannelPipeline.SynchronousOperations {
  fileprivate func removeHandler<Handler: RemovableChannelHandler>(
    ofType type: Handler.Type
  ) throws {
    removeHandler(context: try context(handlerType: type), promise: nil)
  }
}
