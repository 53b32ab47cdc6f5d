import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A connection that sends arbitrary bytes, and reads only on request.
struct RawClient: Sendable {
  private let channel: any Channel
  private let received: NIOLoopBound<Received>

  /// - Parameter receiveBuffer: the size of the kernel's receive buffer; a small one is full soon.
  ///   The kernel of the server then has small segments, and so a small buffer, too.
  static func connect(port: Int, receiveBuffer: Int? = nil) async throws -> RawClient {
    try await connect(SocketAddress(ipAddress: "127.0.0.1", port: port), receiveBuffer)
  }

  /// Connects with TLS. The client reads from the beginning, because the handshake needs it.
  ///
  /// - Parameter protocols: those that the client offers.
  static func connect(
    port: Int, _ certificate: TestCertificate, _ protocols: [String]
  ) async throws -> RawClient {
    var tls = try certificate.clientConfiguration
    tls.applicationProtocols = protocols
    let context = try NIOSSLContext(configuration: tls)
    return try await connect(
      SocketAddress(ipAddress: "127.0.0.1", port: port), nil, autoRead: true
    ) { channel in
      try channel.pipeline.syncOperations.addHandler(
        NIOSSLClientHandler(context: context, serverHostname: "localhost"))
    }
  }

  /// - Parameter path: the path of a Unix socket.
  static func connect(path: String) async throws -> RawClient {
    try await connect(SocketAddress(unixDomainSocketPath: path), nil)
  }

  private static func connect(
    _ address: SocketAddress, _ receiveBuffer: Int?, autoRead: Bool = false,
    setup: @escaping @Sendable (any Channel) throws -> Void = { _ in }
  ) async throws -> RawClient {
    var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    if let receiveBuffer {
      bootstrap = bootstrap.channelOption(
        .socketOption(.so_rcvbuf), value: .init(receiveBuffer)
      ).channelOption(.tcpOption(.init(rawValue: TCP_MAXSEG)), value: 536)
    }
    bootstrap = bootstrap.channelOption(.autoRead, value: autoRead)
      .channelOption(.allowRemoteHalfClosure, value: true)
    // Added before the connection is made, so that it notices if the server closes at once.
    return try await bootstrap.connect(to: address) { channel in
      channel.eventLoop.makeCompletedFuture {
        try setup(channel)
        return try RawClient(on: channel)
      }
    }
  }

  /// - Parameter channel: one of bytes, which reads only on request. Call it on its event loop.
  init(on channel: any Channel) throws {
    let received = Received()
    try channel.pipeline.syncOperations.addHandler(received)
    self.channel = channel
    self.received = NIOLoopBound(received, eventLoop: channel.eventLoop)
  }

  /// Connects with a small receive buffer, and opens a stream of the topic "news" without reading
  /// it.
  static func openStalledStream(port: Int, query: String = "") async throws -> RawClient {
    let client = try await connect(port: port, receiveBuffer: 4096)
    try await client.send("GET /topics/news/events\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client
  }

  func send(_ bytes: some Sequence<UInt8> & Sendable) async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
  }

  func send(_ text: String) async throws {
    try await send(Array(text.utf8))
  }

  /// Closes the output side.
  func finish() async {
    try? await channel.close(mode: .output)
  }

  /// Reads until the received text contains `text`, the server closes, or the task is cancelled.
  ///
  /// - Returns: everything received so far.
  func read(until text: String) async throws -> String {
    let promise = channel.eventLoop.makePromise(of: String.self)
    channel.eventLoop.execute { received.value.wait(for: text, promise) }
    // Both fail if the server has closed; then everything has been received.
    try? await channel.setOption(.autoRead, value: true).get()
    channel.read()
    return try await withTaskCancellationHandler {
      try await promise.futureResult.get()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// Reads until the server closes.
  func readAll() async throws -> String {
    try await read(until: "\u{0}never sent\u{0}")
  }

  func close() async {
    try? await channel.close()
  }

  /// The received bytes. Belongs to the event loop.
  private final class Received: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var bytes = ByteBuffer()
    /// Bytes that have been searched.
    private var searched = 0
    private var isClosed = false
    private var waiting: (text: String, promise: EventLoopPromise<String>)?

    func wait(for text: String, _ promise: EventLoopPromise<String>) {
      waiting = (text, promise)
      searched = 0
      check()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var data = unwrapInboundIn(data)
      bytes.writeBuffer(&data)
      check()
    }

    func channelInactive(context: ChannelHandlerContext) {
      isClosed = true
      check()
      context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      // A reset: the server has closed without reading everything.
      context.close(promise: nil)
    }

    private func check() {
      guard let waiting else { return }
      let isFound = bytes.offset(of: waiting.text, from: searched) != nil
      searched = max(0, bytes.readableBytes - waiting.text.utf8.count)
      guard isClosed || isFound else { return }
      self.waiting = nil
      waiting.promise.succeed(String(buffer: bytes))
    }
  }
}
