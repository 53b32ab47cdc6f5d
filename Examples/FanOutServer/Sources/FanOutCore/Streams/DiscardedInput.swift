internal import NIOCore
internal import NIOHTTP1

/// Reads and discards what a client sends behind the last request of a connection.
///
/// The decoder takes what follows a request with `Upgrade` or `CONNECT` for another protocol: it
/// does not decode that, and would keep all of it. And if a connection is closed before its input
/// was read, the system resets it, and the client loses what it has not read yet.
final class DiscardedInput: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// How often something was read.
  private(set) var reads = 0

  func handlerAdded(context: ChannelHandlerContext) { context.read() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { reads += 1 }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // The handlers behind may want no more.
    context.read()
  }
}

extension ChannelPipeline.SynchronousOperations {
  /// Discards the bytes that the decoder has not received yet.
  ///
  /// - Returns: `nil`: the connection is a stream, or closed.
  @discardableResult
  func discardInput() -> DiscardedInput? {
    let decoder = ByteToMessageHandler<HTTPRequestDecoder>.self
    guard let decoder = try? handler(type: decoder) else { return nil }
    let input = DiscardedInput()
    return (try? addHandler(input, position: .before(decoder))).map { input }
  }
}
