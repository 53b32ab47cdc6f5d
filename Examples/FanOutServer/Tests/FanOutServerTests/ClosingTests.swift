import NIOCore
import NIOEmbedded
import Testing

@testable import FanOutCore

/// The end of a stream of HTTP/2 whose connection does or does not take it.
@Suite struct ClosingTests {
  private func connect(isWritable: Bool) throws -> (
    stream: EmbeddedChannel, socket: EmbeddedChannel
  ) {
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
    let (stream, socket) = (EmbeddedChannel(), EmbeddedChannel())
    try stream.connect(to: address).wait()
    try socket.connect(to: address).wait()
    socket.isWritable = isWritable
    return (stream, socket)
  }

  @Test(arguments: [false, true]) func theFirstAttemptClosesTheStream(_ isWritable: Bool) throws {
    let (stream, socket) = try connect(isWritable: isWritable)
    var closing = Closing()
    closing.target(stream, of: socket).close(promise: nil)
    #expect(!stream.isActive)
    // A connection that is busy at this moment is none that takes nothing.
    #expect(socket.isActive)
  }

  @Test(arguments: [false, true]) func theSecondOneClosesABlockedConnection(
    _ isWritable: Bool
  ) throws {
    let (stream, socket) = try connect(isWritable: isWritable)
    var closing = Closing()
    closing.target(stream, of: socket).close(promise: nil)
    closing.target(stream, of: socket).close(promise: nil)
    #expect(socket.isActive == isWritable)
  }

  @Test func aConnectionOfHTTP1IsItsOwnSocket() throws {
    let (_, connection) = try connect(isWritable: false)
    var closing = Closing()
    closing.target(connection).close(promise: nil)
    #expect(!connection.isActive)
    closing.target(connection).close(promise: nil)
  }
}
