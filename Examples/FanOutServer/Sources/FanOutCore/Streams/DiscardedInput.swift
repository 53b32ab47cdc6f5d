internal import NIOCore
internal import NIOHTTP1

/// Discards what a client sends behind the last request of a connection.
///
/// The decoder takes what follows a request with `Upgrade` or `CONNECT` for another protocol: it
/// does not decode that, and would keep all of it.
final class DiscardedInput: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

extension ChannelPipeline.SynchronousOperations {
  /// Discards the bytes that the decoder has not received yet.
  func discardInput() {
    let decoder = ByteToMessageHandler<HTTPRequestDecoder>.self
    // Without a decoder the connection is a stream, or closed.
    guard let decoder = try? handler(type: decoder) else { return }
    try? addHandler(DiscardedInput(), position: .before(decoder))
  }
}
