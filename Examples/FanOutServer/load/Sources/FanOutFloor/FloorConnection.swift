internal import NIOCore
internal import NIOHTTP1

/// Serves `POST /topics/T` and `GET /topics/T/events`. Answers every other request with 200.
final class FloorConnection: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let streams: FloorStreams
  private var head: HTTPRequestHead?
  private var body = ByteBuffer()

  init(_ streams: FloorStreams) {
    self.streams = streams
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      body.clear()
    case .body(let part):
      body.writeImmutableBuffer(part)
    case .end:
      if let head { answer(head, context) }
    }
  }

  private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    let path = head.uri.split(separator: "/")
    switch (head.method, path.count) {
    case (.GET, 3):
      beginStream(of: path[1], context)
    case (.POST, 2):
      let (number, count) = streams.publish(body, to: path[1])
      respond("{\"id\":\(number),\"subscribers\":\(count)}", context)
    default:
      respond("{}", context)
    }
  }

  private func respond(_ text: String, _ context: ChannelHandlerContext) {
    let headers: HTTPHeaders = [
      "content-type": "application/json", "content-length": "\(text.utf8.count)",
    ]
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
    let body = context.channel.allocator.buffer(string: text)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  /// The connection needs no HTTP from here on: what follows the head of the response are the
  /// events, until it closes.
  private func beginStream(of topic: Substring, _ context: ChannelHandlerContext) {
    let channel = context.channel
    let pipeline = channel.pipeline.syncOperations
    do {
      let decoder = try pipeline.context(
        handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
      let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
      for part in [decoder, encoder, context] {
        pipeline.removeHandler(context: part, promise: nil)
      }
    } catch {
      channel.close(promise: nil)
      return
    }
    let head = """
      HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\n\
      connection: close\r\n\r\n: welcome\n\n
      """
    channel.writeAndFlush(channel.allocator.buffer(string: head), promise: nil)
    streams.add(channel, to: topic)
    let streams = NIOLoopBound(streams, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in streams.value.remove(channel, from: topic) }
  }
}
