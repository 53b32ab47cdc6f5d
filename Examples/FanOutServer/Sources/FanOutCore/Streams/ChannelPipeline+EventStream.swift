internal import HummingbirdCore
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
      try remove(HTTPConnectionStateHandler.self)
    } else {
      try remove(HTTP2FramePayloadToHTTPServerCodec.self)
    }
  }

  private func remove<Handler: RemovableChannelHandler>(_ type: Handler.Type) throws {
    removeHandler(context: try context(handlerType: type), promise: nil)
  }
}

extension Channel {
  /// The channel with the socket: that of the connection, for a stream of HTTP/2.
  var socket: any Channel { self is any SocketOptionProvider ? self : parent ?? self }

  /// Closes the connection of HTTP/1, or the stream of HTTP/2. If the client takes nothing from the connection
  /// of a stream, not even the end of the stream, closes that.
  func closeNow() {
    let socket = socket
    if socket === self || socket.isWritable {
      close(promise: nil)
    } else {
      socket.close(promise: nil)
    }
  }
}
