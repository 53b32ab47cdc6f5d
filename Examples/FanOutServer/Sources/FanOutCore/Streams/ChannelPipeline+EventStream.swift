internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP2

extension ChannelPipeline.SynchronousOperations {
  /// Adds a stream, whose head is written, to a connection of HTTP/1 or a stream of HTTP/2.
  func add(_ stream: EventStream) throws {
    if let encoder = try? handler(type: HTTPResponseEncoder.self) {
      // Behind the encryption, if there is one.
      try addHandler(stream, position: .before(encoder))
    } else {
      let data = HTTP2Data()
      try addHandler(data, position: .first)
      try addHandler(stream, position: .after(data))
    }
  }

  /// Removes what a connection with a stream does not need any more.
  func removeRequestHandlers() throws {
    if (try? context(handlerType: HTTPResponseEncoder.self)) != nil {
      try remove(ByteToMessageHandler<HTTPRequestDecoder>.self)
      try remove(HTTPResponseEncoder.self)
      // There is one if the request had the header field `Upgrade`.
      try? remove(DiscardedInput.self)
    } else {
      try remove(HTTP2FramePayloadToHTTPServerCodec.self)
    }
  }

  private func remove<Handler: RemovableChannelHandler>(_ type: Handler.Type) throws {
    removeHandler(context: try context(handlerType: type), promise: nil)
  }
}
