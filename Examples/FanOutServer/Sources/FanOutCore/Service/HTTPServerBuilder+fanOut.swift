internal import HummingbirdCore
internal import NIOCore

extension HTTPServerBuilder {
  /// HTTP/1.1, and, if the connections are encrypted, HTTP/2, with little memory per connection:
  /// most connections are idle streams.
  static func fanOut(_ routes: Routes) -> HTTPServerBuilder {
    let settings = routes.settings
    let places = ConnectionPlaces(
      settings.maxConnections, perAddress: settings.maxConnectionsPerAddress,
      proxies: settings.trustedProxies)
    return HTTPServerBuilder { responder in
      let connections = HTTP1Connections(
        responder: { request, writer, channel in
          // A task keeps the memory of its deepest call until it ends, and the task of a connection
          // with a stream lives long. So the response runs in its own task.
          let box = WriterBox(writer)
          let executor = routes.loops.executor(of: channel.eventLoop)
          try await Task.detached(executorPreference: executor) {
            guard let writer = box.take() else { return }
            try await responder(request, writer, channel)
          }.value
        },
        routes: routes, places: places)
      guard let security = settings.security else { return connections }
      return SecureConnections(connections: connections, security: security)
    }
  }
}

/// Transfers a writer to another task.
private final class WriterBox: @unchecked Sendable {
  // Sendable: written before the task starts; only that task uses it afterwards. The compiler
  // cannot see it, because Hummingbird's closure does not get the writer as `sending`.

  private var writer: ResponseWriter?

  init(_ writer: consuming ResponseWriter) {
    self.writer = consume writer
  }

  func take() -> ResponseWriter? { writer.take() }
}
