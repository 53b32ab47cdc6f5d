internal import NIOCore
internal import NIOHTTP2

/// Makes what an ``EventStream`` writes data of an HTTP/2 stream. An empty buffer ends the stream.
final class HTTP2Data: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// Sent through the pipeline when the client has taken data, and so allows more.
  struct Progress {}

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    let payload = HTTP2Frame.FramePayload.Data(
      data: .byteBuffer(bytes), endStream: bytes.readableBytes == 0)
    context.write(wrapOutboundOut(.data(payload)), promise: promise)
  }

  /// Passes only data on, which a client with a stream does not send.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .data: context.fireChannelRead(data)
    case .windowUpdate: context.fireUserInboundEventTriggered(Progress())
    default: break
    }
  }
}
