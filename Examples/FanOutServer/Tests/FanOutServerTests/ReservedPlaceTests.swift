import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Testing

@testable import FanOutCore

/// The time of connections without a place, on a clock that the test sets.
@Suite struct ReservedPlaceTests {
  private func connect() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    let place = ConnectionPlace(
      ConnectionPlaces(0, perAddress: nil), channel, patience: .seconds(2))
    let loop = ConnectionLoop(channel.eventLoop, ConnectionLoop.Counts())
    try channel.pipeline.syncOperations.addHandler(
      HTTP1Codec(Logger(label: "test"), nil, Connection(loop), place))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  private func request(_ path: String) -> HTTPServerRequestPart {
    .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: ["Host": "a"]))
  }

  @Test func aBusyServerStillAnswersMonitoring() throws {
    let channel = try connect()
    try channel.writeInbound(request("/health"))
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    // The response takes longer than a silent client may stay.
    channel.embeddedEventLoop.advanceTime(by: .minutes(1))
    #expect(channel.isActive)
    try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    let part = try #require(try channel.readOutbound(as: HTTPServerResponsePart.self))
    guard case .head(let head) = part else {
      Issue.record("\(part) is not a head")
      return
    }
    #expect(head.status == .ok)
    #expect(head.headers["connection"] == ["close"])
    // After the response, the client must close soon: others wait for the place.
    try channel.writeOutbound(HTTPResponsePart.end(nil))
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1999))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive)
  }

  @Test(arguments: [nil, "/health"])
  func aClientThatDoesNotFinishItsRequestIsClosed(_ path: String?) throws {
    let channel = try connect()
    if let path { try channel.writeInbound(request(path)) }
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1999))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive)
  }
}
