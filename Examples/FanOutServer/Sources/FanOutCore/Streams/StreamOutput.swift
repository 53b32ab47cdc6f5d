internal import NIOCore

/// The way of one stream to its connection.
///
/// It sits at the http of the pipeline, where the HTTP encoder has done its work: frames bring
/// their chunk along (see ``Frame``). So an event costs no more than putting a shared buffer into
/// the list of what the socket has to write.
///
/// Used on the event loop of the connection alone.
final class StreamOutput: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let loop: ConnectionLoop
  private let closesWhenStalled: Bool
  /// Where it is in the loop's list.
  var position: Int?
  /// When something was last written.
  private var lastTick = 0
  /// When the connection was last looked at.
  private var lastPoll = 0
  private var acknowledgements = AcknowledgementMonitor()
  /// Called once, when the connection is lost.
  var whenLost: (() -> Void)?
  private var context: ChannelHandlerContext?
  private var isLost = false
  private var isFlushDue = false
  /// Whether nothing more will be written.
  private var isEnding = false
  /// The task that waits until the connection takes more.
  private var waitingWriter: CheckedContinuation<Void, Never>?

  init(_ loop: ConnectionLoop, closesWhenStalled: Bool) {
    self.loop = loop
    self.closesWhenStalled = closesWhenStalled
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    lastTick = loop.tick
    lastPoll = loop.tick
    loop.add(self)
    context.fireUserInboundEventTriggered(Connection.StreamBegins())
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    loop.remove(self)
    self.context = nil
    connectionLost()
  }

  /// A client with a stream has nothing more to say: an answer would land in the middle of the
  /// stream.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    closeConnection()
  }

  /// What comes here is not of the stream, but the answer to a request that was read before the
  /// stream began.
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.ioOnClosedChannel)
    closeConnection()
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.fireChannelInactive()
    connectionLost()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    context.fireUserInboundEventTriggered(event)
    // A client that will never say anything again does not come back for the events either.
    if case ChannelEvent.inputClosed = event { closeConnection() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    if context.channel.isWritable { resumeWriter() }
  }
}

extension StreamOutput {
  /// Whether frames still have a place to go.
  var isOpen: Bool { !isLost }

  /// Whether the connection takes more: false while it has more than its limit to send.
  var isReady: Bool { isLost || context?.channel.isWritable ?? true }

  func write(_ event: Event) {
    write(event.frame)
    loop.countEvent()
  }

  /// Sends `frame` with whatever else is due.
  func write(_ frame: ByteBuffer) {
    guard !isLost, let context else { return }
    lastTick = loop.tick
    context.write(wrapOutboundOut(frame), promise: nil)
    guard !isFlushDue else { return }
    isFlushDue = true
    loop.flushSoon(self)
  }

  func flush() {
    isFlushDue = false
    context?.flush()
  }

  /// Returns when the connection takes more, or is lost.
  func ready() async {
    while !isReady {
      await withCheckedContinuation { waitingWriter = $0 }
    }
  }

  /// Returns when everything has gone to the socket, or the connection is lost.
  func drained() async {
    guard !isLost, let context else { return }
    isEnding = true
    // Writes are in order: when this one, of nothing, is done, so are all before it.
    let done = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: done)
    try? await done.futureResult.get()
  }

  /// Writes a heartbeat if the stream is quiet, and closes the connection if nothing has come back
  /// for a whole interval, or if the client takes nothing and is to go. To be called at each tick.
  ///
  /// - Returns: whether it has written a heartbeat.
  func handleTick() -> Bool {
    let isQuiet = !isEnding && loop.tick - lastTick >= ConnectionLoop.ticksPerInterval && isReady
    guard isQuiet || loop.tick - lastPoll >= ConnectionLoop.ticksPerInterval else { return false }
    pollConnection()
    guard isQuiet, !isLost else { return false }
    write(Frame.heartbeat)
    acknowledgements.expect(loop.tick)
    return true
  }

  private func pollConnection() {
    guard !isLost, let context else { return }
    lastPoll = loop.tick
    let ticks = acknowledgements.poll(context.channel, loop.tick)
    let isStalled = (isEnding || !isReady) && acknowledgements.sinceSending >= loop.heartbeat * 2
    if ticks >= ConnectionLoop.ticksPerInterval || closesWhenStalled && isStalled {
      closeConnection()
    }
  }

  func closeConnection() {
    context?.close(promise: nil)
  }

  private func connectionLost() {
    guard !isLost else { return }
    isLost = true
    resumeWriter()
    whenLost?()
    whenLost = nil
  }

  private func resumeWriter() {
    guard let waitingWriter else { return }
    self.waitingWriter = nil
    // It is in the middle of something: it does not wait for more.
    loop.executor.skipLinger()
    waitingWriter.resume()
  }
}
