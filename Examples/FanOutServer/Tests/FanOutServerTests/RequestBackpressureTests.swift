import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServiceLifecycle
import Testing

@testable import FanOutCore

/// A client that sends requests without waiting for the responses: the server reads no more before
/// it has answered what there is.
@Suite(.timeLimit(.minutes(5))) struct RequestBackpressureTests {
  /// Acknowledges an event when the test says so.
  private final class GatedLog: EventLog {
    let gate: AsyncStream<Void>

    init(_ gate: AsyncStream<Void>) { self.gate = gate }

    func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      for await _ in gate { break }
      return Receipt(id: 1, subscribers: 0)
    }

    func run() async throws {}

    var status: LogStatus { LogStatus(kind: "gated", isConnected: true) }
  }

  /// Counts what the channel would read.
  private final class Reads: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = Never

    let count = NIOLockedValueBox(0)

    func read(context: ChannelHandlerContext) { count.withLockedValue { $0 += 1 } }
  }

  private static func request() -> [HTTPServerRequestPart] {
    let head = HTTPRequestHead(
      version: .http1_1, method: .POST, uri: "/topics/a",
      headers: ["Host": "localhost", "Content-Length": "1"])
    return [.head(head), .body(ByteBuffer(string: "x")), .end(nil)]
  }

  @Test func nothingIsReadBeforeTheLastRequestIsAnswered() async throws {
    let eventLoop = NIOAsyncTestingEventLoop()
    let (gate, open) = AsyncStream<Void>.makeStream()
    let loops = try await ConnectionLoops(eventLoop, heartbeat: .hours(1), idle: .hours(1))
    let source = TopicSource(Settings(), makeLog: { _ in GatedLog(gate) })
    let routes = Routes(Settings(), source.topics, source.log, loops, MetricSeries())
    let channel = NIOAsyncTestingChannel(loop: eventLoop)
    let (reads, result) = (Reads(), eventLoop.makePromise(of: SmallRequests.LargeRequests?.self))
    try await eventLoop.executeInContext {
      let place = ConnectionPlace(
        ConnectionPlaces(10, perAddress: nil), channel, patience: .seconds(60))
      let codec = HTTP1Codec(
        Logger(label: "test"), nil, Connection(loops[eventLoop].value), place)
      try channel.pipeline.syncOperations.addHandlers([
        reads, HTTPResponseEncoder(), codec, SmallRequests(routes, codec, result),
      ])
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    for part in (0..<3).flatMap({ _ in Self.request() }) { try await channel.writeInbound(part) }
    let before = reads.count.withLockedValue { $0 }
    try await eventLoop.executeInContext { channel.read() }
    for number in 1...3 {
      #expect(reads.count.withLockedValue { $0 } == before)
      open.yield()
      let response = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
      #expect(String(buffer: response).hasPrefix("HTTP/1.1 200 OK\r\n"), "response \(number)")
      // Behind what follows the response.
      try await eventLoop.executeInContext {}
    }
    #expect(reads.count.withLockedValue { $0 } == before + 1)
    try await channel.close()
    _ = try await result.futureResult.get()
    loops.stop()
    await eventLoop.shutdownGracefully()
  }
}
