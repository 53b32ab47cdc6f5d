internal import NIOCore
internal import NIOHTTPTypes

/// Lets no client hold a connection for longer than the server wants.
///
/// It knows since when a request is under way, and whether the client is to do something about it:
/// to send the rest, or to read the answer. The loop asks for that now and then, so that there is no
/// timer for each connection.
final class Connection: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// Sent through the pipeline when a stream begins: that is an answer without an end.
  struct StreamBegins {}

  private let loops: ConnectionLoops
  /// Where it is in the loop's list.
  var position: Int?
  private var context: ChannelHandlerContext?
  /// Requests that have no whole answer.
  private var pendingRequests = 0
  private var isReceiving = false
  private var isStream = false
  /// Since when the first of them is under way.
  private var start: NIODeadline?

  init(_ loops: ConnectionLoops) {
    self.loops = loops
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
      if pendingRequests == 0 { start = nil }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      pendingRequests -= 1
      // What was refused before all of it was there is still read.
      start = pendingRequests > 0 || isReceiving ? .now() : nil
    }
    context.write(data, promise: promise)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is StreamBegins else { return context.fireUserInboundEventTriggered(event) }
    isStream = true
  }
}

extension Connection {
  /// Closes it if the client keeps the server waiting since `deadline` or before.
  func closeIfTimedOut(since deadline: NIODeadline) {
    guard !isStream, let start, start <= deadline, let context else { return }
    if isReceiving || !context.channel.isWritable { close() }
  }

  func close() {
    context?.close(promise: nil)
  }
}
