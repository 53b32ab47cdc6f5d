import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Testing

@testable import FanOutCore

/// When the server closes a connection: it has waited too long for the client, or it shuts down.
@Suite struct ConnectionEndTests {
  /// A socket that takes nothing before the test says so.
  private final class FullSocket: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var pending: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      pending.append((data, promise))
    }

    /// An `EmbeddedChannel` closes both sides at once.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      for (data, promise) in pending { context.write(data, promise: promise) }
      context.flush()
    }
  }

  private let channel = EmbeddedChannel()
  private let connection: Connection

  init() throws {
    connection = Connection(ConnectionLoop(channel.eventLoop, ConnectionLoop.Counts()))
    let place = ConnectionPlace(
      ConnectionPlaces(10, perAddress: nil), channel, patience: .seconds(2))
    try channel.pipeline.syncOperations.addHandler(
      HTTP1Codec(Logger(label: "test"), nil, connection, place))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  private func send(_ part: HTTPServerRequestPart) throws { try channel.writeInbound(part) }

  private func sendHead() throws {
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "a"])
    try send(.head(head))
  }

  private func answer() throws {
    try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    try channel.writeOutbound(HTTPResponsePart.end(nil))
  }

  /// Whether the server closes the connection if it has waited as long as the limit.
  private var isClosedAtTheLimit: Bool {
    connection.closeIfTimedOut(since: .now() + .hours(1))
    return !channel.isActive
  }

  @Test func withoutARequestItIsClosed() {
    connection.closeIfTimedOut(since: .now() - .hours(1))
    #expect(channel.isActive)
    #expect(isClosedAtTheLimit)
  }

  @Test func anIncompleteRequestIsClosed() throws {
    try sendHead()
    #expect(isClosedAtTheLimit)
  }

  @Test func theServerMayTakeAnyTimeToAnswer() throws {
    try sendHead()
    try send(.end(nil))
    #expect(!isClosedAtTheLimit)
    try answer()
    // Now the server waits for the next request.
    #expect(isClosedAtTheLimit)
  }

  @Test func theRestOfARequestThatIsAnsweredHasTheLimitToo() throws {
    try sendHead()
    try answer()
    #expect(isClosedAtTheLimit)
  }

  @Test func aStreamHasNoLimit() throws {
    try sendHead()
    try send(.end(nil))
    connection.streamBegins()
    #expect(!isClosedAtTheLimit)
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(channel.isActive)
  }

  private func shutDown() {
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    channel.embeddedEventLoop.run()
  }

  @Test func atShutdownAnIdleConnectionIsClosed() {
    shutDown()
    #expect(!channel.isActive)
  }

  @Test func atShutdownAConnectionIsClosedBehindItsLastResponse() throws {
    try sendHead()
    try send(.end(nil))
    try sendHead()
    shutDown()
    try answer()
    channel.embeddedEventLoop.run()
    #expect(channel.isActive)
    try send(.end(nil))
    try answer()
    // The client knows that this one is not taken.
    try sendHead()
    try send(.end(nil))
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
    var isLast: [Bool] = []
    while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
      if case .head(let head) = part { isLast.append(head.headers["Connection"] == ["close"]) }
    }
    #expect(isLast == [false, true])
  }

  @Test func atShutdownAWholeResponseSaysThatTheConnectionCloses() throws {
    let pipeline = channel.pipeline.syncOperations
    let codec = try pipeline.handler(type: HTTP1Codec.self)
    let encoder = HTTPResponseEncoder()
    try pipeline.addHandler(encoder, position: .before(codec))
    codec.handlerAdded(context: try pipeline.context(handler: codec))
    try sendHead()
    try send(.end(nil))
    shutDown()
    #expect(channel.isActive)
    codec.write(.json("{}"), promise: channel.eventLoop.makePromise())
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
    let response = try #require(try channel.readOutbound(as: ByteBuffer.self))
    #expect(String(buffer: response).contains("\r\nConnection: close\r\n"))
  }

  @Test(arguments: [false, true])
  func atShutdownAResponseReachesTheSocketFirst(_ isWritten: Bool) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(FullSocket(), name: "socket", position: .first)
    try sendHead()
    try send(.end(nil))
    if !isWritten { shutDown() }
    channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
    channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    if isWritten { shutDown() }
    channel.embeddedEventLoop.run()
    #expect(channel.isActive)
    pipeline.removeHandler(name: "socket", promise: nil)
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
    var parts = 0
    while try channel.readOutbound(as: HTTPServerResponsePart.self) != nil { parts += 1 }
    #expect(parts == 2)
  }

  @Test func atShutdownARefusalReachesTheSocketFirst() throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(FullSocket(), name: "socket", position: .first)
    try send(.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: [:])))
    shutDown()
    #expect(channel.isActive)
    pipeline.removeHandler(name: "socket", promise: nil)
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
    #expect(try channel.readOutbound(as: HTTPServerResponsePart.self) != nil)
  }

  @Test func atShutdownTheRefusalBehindAResponseIsWritten() throws {
    try sendHead()
    try send(.end(nil))
    try send(.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: [:])))
    shutDown()
    try answer()
    channel.embeddedEventLoop.run()
    var statuses: [UInt] = []
    var isLast: [Bool] = []
    while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
      guard case .head(let head) = part else { continue }
      statuses.append(head.status.code)
      isLast.append(head.headers["Connection"] == ["close"])
    }
    #expect(statuses == [200, 400])
    #expect(isLast == [false, true])
  }

  /// A client that closes during a write ends the connection while what it sent is being decoded.
  private final class LateRequest: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    static func head(_ target: String) -> HTTPServerRequestPart {
      .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: ["Host": "a"]))
    }

    func channelInactive(context: ChannelHandlerContext) {
      context.fireChannelInactive()
      context.fireChannelRead(wrapInboundOut(Self.head("/metrics")))
    }
  }

  @Test func aRequestThatIsDecodedAfterTheEndHasItsLine() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("access")
    let log = try #require(AccessLog(.json, path: path, logger: Logger(label: "test")))
    let channel = EmbeddedChannel()
    let connection = Connection(ConnectionLoop(channel.eventLoop, ConnectionLoop.Counts()))
    let place = ConnectionPlace(
      ConnectionPlaces(10, perAddress: nil), channel, patience: .seconds(2))
    try channel.pipeline.syncOperations.addHandlers([
      LateRequest(), HTTP1Codec(Logger(label: "test"), log, connection, place),
    ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.writeInbound(LateRequest.head("/health"))
    _ = try channel.finish()
    #expect(log.flush(within: .seconds(60)))
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.contains("health") == true && lines.last?.contains("metrics") == true)
  }
}
