internal import NIOCore
internal import NIOHTTPTypes

/// Tracks the requests of a connection, so that clients that stop sending or reading time out.
///
/// It knows how long a request has been in progress, and whether the server waits for the client:
/// to send the rest, or to read the response. ``ConnectionLoop`` polls that periodically, so that
/// connections need no timers.
final class Connection: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// Sent through the pipeline when a stream begins: a response without a time limit.
  struct StreamBegins {
    let stream: EventStream
  }

  /// Sent through the pipeline when the server has refused a request. It waits until the client
  /// closes.
  struct Refused {}

  private let loops: ConnectionLoops
  /// Whether it ends with its response: a stream of HTTP/2.
  private let hasOneRequest: Bool
  /// The index in the list of the loop.
  var listIndex: Int?
  private var context: ChannelHandlerContext?
  /// Requests whose response is not complete.
  private var pendingRequests = 0
  private var isReceiving = false
  /// Whether it waits for the client to take its only response.
  private var isAnswered = false
  private var closing = Closing()
  private var isStream = false
  /// When the oldest of them began, or when the response before it was complete.
  private var start: NIODeadline?

  init(_ loops: ConnectionLoops, hasOneRequest: Bool = false) {
    self.loops = loops
    self.hasOneRequest = hasOneRequest
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    loops[context.eventLoop].value.add(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    loops[context.eventLoop].value.remove(self)
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      pendingRequests += 1
      isReceiving = true
      if start == nil { start = .now() }
    case .body: break
    case .end:
      isReceiving = false
      if pendingRequests == 0, !isAnswered { start = nil }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      pendingRequests -= 1
      isAnswered = hasOneRequest
      // The server still reads the rest of a request that it refused early.
      start = pendingRequests > 0 || isReceiving || isAnswered ? .now() : nil
    }
    context.write(data, promise: promise)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is StreamBegins: isStream = true
    case is Refused:
      isReceiving = true
      start = .now()
    default: context.fireUserInboundEventTriggered(event)
    }
  }
}

extension Connection {
  /// Closes the connection if the server has waited for the client since `deadline` or longer.
  func closeIfTimedOut(since deadline: NIODeadline) {
    guard !isStream, let start, start <= deadline, let context else { return }
    if isReceiving || isAnswered || !context.channel.isWritable { close() }
  }

  func close() {
    if let context { closing.target(context.channel).close(promise: nil) }
  }
}
