internal import NIOCore

/// One event stream: subscribes, and passes its events to the collector.
final class StreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let request: ByteBuffer
  private let collector: Collector
  private let isStalled: Bool
  /// Succeeds when the head of a response with status 200 has arrived.
  private let opened: EventLoopPromise<Void>

  private var response = ResponseScanner()
  private var events = EventScanner()
  private var isOpen = false
  private var hasFailed = false
  /// The number of this stream at the collector, once the stream is open.
  private var stream = 0

  /// - Parameter isStalled: whether to stop reading after the head of the response.
  init(
    request: ByteBuffer, collector: Collector, isStalled: Bool, opened: EventLoopPromise<Void>
  ) {
    self.request = request
    self.collector = collector
    self.isStalled = isStalled
    self.opened = opened
  }

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(request), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let now = Clock.now
    do {
      try unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
        var rest = bytes
        while let part = try response.next(in: &rest) { try take(part, at: now, context) }
      }
    } catch {
      fail(error, context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(LoadError("the server closed a stream"), context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error, context)
  }
}

extension StreamHandler {
  private func take(
    _ part: ResponseScanner.Part, at now: UInt64, _ context: ChannelHandlerContext
  ) throws {
    switch part {
    case .head(status: 200):
      isOpen = true
      opened.succeed()
      if isStalled {
        context.channel.setOption(.autoRead, value: false).whenFailure(opened.fail)
      } else {
        stream = collector.addStream()
      }
    case .head(let status):
      throw LoadError("the response to a subscription has HTTP status \(status)")
    case .body(let bytes):
      guard !isStalled else { return }
      try events.scan(bytes) { collector.receive($0, at: now, on: stream) }
    case .end:
      throw LoadError("the server ended a stream")
    }
  }

  private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
    guard !hasFailed else { return }
    hasFailed = true
    if !isOpen {
      opened.fail(error)
    } else if !isStalled {
      collector.streamFailed(error)
    }
    context.close(promise: nil)
  }
}
