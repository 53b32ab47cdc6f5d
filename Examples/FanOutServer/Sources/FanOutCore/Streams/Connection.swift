internal import NIOCore
internal import NIOHTTPTypes

/// Lets no client hold a connection for longer than the server wants.
///
/// It knows since when a request is under way, and whether the client is to do something about it:
/// to send the rest, or to read the answer. The lane asks for that now and then, so that there is no
/// timer for each connection.
final class Connection: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// Sent through the pipeline when a stream begins: that is an answer without an end.
  struct StreamBegins {}

  private let lanes: Lanes
  /// Where it is in the lane's list.
  var position: Int?
  private var context: ChannelHandlerContext?
  /// Requests that have no whole answer.
  private var underWay = 0
  private var isReading = false
  private var isStream = false
  /// Since when the first of them is under way.
  private var start: NIODeadline?

  init(_ lanes: Lanes) {
    self.lanes = lanes
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    lanes[context.eventLoop].value.add(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    lanes[context.eventLoop].value.remove(self)
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      underWay += 1
      isReading = true
      if start == nil { start = .now() }
    case .body: break
    case .end:
      isReading = false
      if underWay == 0 { start = nil }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      underWay -= 1
      // What was refused before all of it was there is still read.
      start = underWay > 0 || isReading ? .now() : nil
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
  func closeIfHeld(since deadline: NIODeadline) {
    guard !isStream, let start, start <= deadline, let context else { return }
    if isReading || !context.channel.isWritable { close() }
  }

  func close() {
    context?.close(promise: nil)
  }
}
