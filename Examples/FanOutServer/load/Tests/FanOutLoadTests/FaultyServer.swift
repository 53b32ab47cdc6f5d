import NIOCore
import NIOHTTP1
import NIOPosix

/// A fan-out server on one event loop with an optional fault.
struct FaultyServer {
  /// The fault of event number 25 on the first stream.
  enum Fault: CaseIterable {
    case none, missing, doubled, swapped, truncated, streamClosed, streamEnded
  }

  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup

  var port: Int { channel.localAddress?.port ?? 0 }

  static func start(_ fault: Fault) async throws -> FaultyServer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let hub = try await loop.submit { NIOLoopBound(Hub(fault), eventLoop: loop) }.get()
    let channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Connection(hub.value))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return FaultyServer(channel: channel, group: group)
  }

  func stop() async throws {
    try await group.shutdownGracefully()
  }
}

/// The streams, and the number of events so far.
private final class Hub {
  let fault: FaultyServer.Fault
  var streams: [Connection] = []
  var published = 0
  var held: String?

  init(_ fault: FaultyServer.Fault) {
    self.fault = fault
  }

  func publish(_ data: String) {
    defer { published += 1 }
    for (index, stream) in streams.enumerated() {
      guard index == 0, fault != .none else {
        stream.send(data)
        continue
      }
      sendToFirst(data, stream)
    }
  }

  private func sendToFirst(_ data: String, _ stream: Connection) {
    guard published == 25 else {
      stream.send(data)
      if let late = held { stream.send(late) }
      held = nil
      return
    }
    switch fault {
    case .none, .missing: break
    case .doubled: for _ in 0..<2 { stream.send(data) }
    case .swapped: held = data
    case .truncated: stream.send(String(data.dropLast()))
    case .streamClosed: stream.close()
    case .streamEnded: stream.end()
    }
  }
}

/// One connection: a stream, or the publisher.
private final class Connection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let hub: Hub
  private var context: ChannelHandlerContext?
  private var isStream = false
  private var body = ""

  init(_ hub: Hub) {
    self.hub = hub
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      isStream = head.method == .GET
      body = ""
    case .body(let buffer):
      body += String(buffer: buffer)
    case .end:
      var head = HTTPResponseHead(version: .http1_1, status: .ok)
      if isStream {
        hub.streams.append(self)
      } else {
        hub.publish(body)
        head.headers.add(name: "Content-Length", value: "0")
      }
      context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
      if !isStream { context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil) }
    }
  }

  func send(_ data: String) {
    let event = ByteBuffer(string: "id: 1\ndata: \(data)\n\n")
    context?.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(event))), promise: nil)
  }

  func end() {
    context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    // Nothing may follow.
    context = nil
  }

  func close() { context?.close(promise: nil) }
}
