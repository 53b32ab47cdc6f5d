internal import NIOCore

/// Writes one stream to its connection.
///
/// It is the handler next to the socket, after the HTTP encoder, because a ``Frame`` already contains
/// its chunk. So a write only adds a shared buffer to the pending writes of the socket.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class StreamOutput: ChannelDuplexHandler, RemovableChannelHandler, IndexedListElement {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let loop: ConnectionLoop
  private let closesWhenStalled: Bool
  /// Whether frames keep their chunk. False for HTTP/1.0.
  var isChunked = true
  /// Bytes that were written, with those of chunks.
  private(set) var bytes = 0
  /// The index in the list of the loop.
  var listIndex: Int?
  /// The tick of the last write.
  private var lastTick = 0
  /// The tick of the last poll of the connection.
  private var lastPoll = 0
  private var acknowledgements = AcknowledgementMonitor()
  /// Called once, when the connection closes or breaks.
  var whenLost: (() -> Void)?
  private var context: ChannelHandlerContext?
  private var isLost = false
  private var isFlushDue = false
  /// Whether the last frame has been written.
  private var isEnding = false
  /// The task that waits until the connection is writable.
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
    context.fireUserInboundEventTriggered(Connection.StreamBegins(output: self))
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    loop.remove(self)
    self.context = nil
    connectionLost()
  }

  /// Closes the connection: a client with a stream must not send anything, because a response would
  /// be inside of the stream.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    closeConnection()
  }

  /// Closes the connection: this is not a write of the stream, but the response to a request that was
  /// read before the stream began.
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
    // Treats half-closure as the end: a client that closes its side gets no more events.
    if case ChannelEvent.inputClosed = event { closeConnection() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    if context.channel.isWritable { resumeWriter() }
  }
}

extension StreamOutput {
  /// Whether frames still reach the connection.
  var isOpen: Bool { !isLost }

  /// Whether to write more: false while the pending writes exceed the limit of the channel.
  var isReady: Bool { isLost || context?.channel.isWritable ?? true }

  func write(_ event: Event) {
    write(event.frame)
    loop.countEvent()
  }

  /// Writes `frame`; the loop flushes it with other writes.
  func write(_ frame: ByteBuffer) {
    guard !isLost, let context else { return }
    lastTick = loop.tick
    let bytes = isChunked ? frame : Frame.payload(of: frame)
    self.bytes += bytes.readableBytes
    context.write(wrapOutboundOut(bytes), promise: nil)
    guard !isFlushDue else { return }
    isFlushDue = true
    loop.flushSoon(self)
  }

  func flush() {
    isFlushDue = false
    context?.flush()
  }

  /// Returns when the connection is writable, or is lost.
  func ready() async {
    while !isReady {
      await withCheckedContinuation { waitingWriter = $0 }
    }
  }

  /// Returns when all writes have reached the socket, or the connection is lost.
  func drained() async {
    guard !isLost, let context else { return }
    isEnding = true
    // Writes complete in order: after this empty one, all earlier ones are complete.
    let done = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: done)
    try? await done.futureResult.get()
  }

  /// Writes a heartbeat if the stream is idle. Closes the connection if nothing was acknowledged for a
  /// whole interval, or if the client reads nothing and `closesWhenStalled`. Call it at each tick.
  ///
  /// - Returns: whether it wrote a heartbeat.
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
    // The task has frames to write: lingering would only delay them.
    loop.executor.skipLinger()
    waitingWriter.resume()
  }
}
