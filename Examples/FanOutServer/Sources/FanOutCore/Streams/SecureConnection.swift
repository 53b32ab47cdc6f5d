internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOHTTP2
internal import NIOTLS

/// The time limits of a connection with TLS, for the handshake and between the requests of HTTP/2,
/// and its end.
///
/// It is the handler behind that of TLS. A connection that negotiates HTTP/1.1 has the limits of
/// ``Connection``, as one without TLS has, and a request of HTTP/2 has its own ``Connection``.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class SecureConnection: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum State {
    case handshake
    case http1
    case http2
  }

  private let loop: ConnectionLoop
  private let logger: Logger
  let place: ConnectionPlace
  /// The index in the list of the loop.
  var listIndex: Int?
  private var state = State.handshake
  /// Requests and streams of HTTP/2.
  private var openRequests = 0
  /// When the server began to wait for the client; `nil` if it does not.
  private var start: NIODeadline? = .now()
  /// Whether the client was asked to close.
  private var isQuiescing = false
  /// Whether the server closes the connection, or is about to.
  private var isClosing = false
  private var context: ChannelHandlerContext?

  init(_ loop: ConnectionLoop, _ place: ConnectionPlace, _ logger: Logger) {
    self.loop = loop
    self.logger = logger
    self.place = place
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    loop.add(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    loop.remove(self)
    self.context = nil
    place.release()
  }

  /// Discards what comes after an error. TLS waits for the client before the connection closes, and
  /// NIO would go on to process frames, also those of a stream whose first frame was the error:
  /// only some of NIO's handlers know that stream.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted(let negotiated) = event {
      state = negotiated == "h2" ? .http2 : .http1
    }
    // There is nothing yet that would close it.
    if event is ChannelShouldQuiesceEvent, state == .handshake { return close() }
    // A client of HTTP/2 that sends nothing more cannot even read: it cannot say how much it takes.
    if case ChannelEvent.inputClosed = event, state != .http1 { return close() }
    context.fireUserInboundEventTriggered(event)
  }

  /// An error of TLS or of the socket, after which nothing can be sent or received.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    logger.debug("a connection with TLS ends: \(error)")
    close()
  }
}

extension SecureConnection {
  /// Counts a request or stream of HTTP/2.
  func requestBegins() {
    openRequests += 1
    start = nil
  }

  func requestEnds() {
    openRequests -= 1
    guard openRequests == 0, let context else { return }
    start = .now()
    guard place.admission != .all else { return }
    // The client may get a place with its next connection.
    quiesce()
    place.expectRequest(context.channel)
  }

  /// Ends the connection if the server has waited for the client since `deadline` or longer. A
  /// client of HTTP/2 is asked to close, because it may be sending a request, and closed the next
  /// time.
  func closeIfTimedOut(since deadline: NIODeadline) {
    guard state != .http1, let start, start <= deadline else { return }
    if state == .http2, !isQuiescing { quiesce() } else { close() }
  }

  /// Asks a client of HTTP/2 to close.
  private func quiesce() {
    isQuiescing = true
    context?.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }

  /// Sends a ping to a client of HTTP/2 with requests. Its streams may take no heartbeats, but its
  /// kernel acknowledges the ping: so ``EventStream`` finds out whether the client has vanished.
  func sendPing() {
    guard state == .http2, openRequests > 0, let context else { return }
    let ping = HTTP2Frame.FramePayload.ping(HTTP2PingData(withInteger: 0), ack: false)
    context.channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: ping), promise: nil)
  }

  /// Closes the connection when what has been written is flushed.
  func closeSoon() {
    guard let context else { return }
    isClosing = true
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { this.value.close() }
  }

  func close() {
    isClosing = true
    context?.close(promise: nil)
  }
}
