internal import NIOCore

/// Closes a connection of HTTP/1, or a stream of HTTP/2.
///
/// The end of a stream waits behind what its client does not read from the connection. So if the stream is
/// still open at the second attempt, and the connection takes nothing, closes the connection.
struct Closing {
  private var hasBegun = false

  mutating func close(_ channel: any Channel) { close(channel, of: channel.socket) }

  /// - Parameter socket: the connection of `channel`, or `channel` itself.
  mutating func close(_ channel: any Channel, of socket: any Channel) {
    if hasBegun, socket !== channel, !socket.isWritable {
      socket.close(promise: nil)
    } else {
      channel.close(promise: nil)
    }
    hasBegun = true
  }
}

extension Channel {
  /// The channel with the socket: that of the connection, for a stream of HTTP/2.
  var socket: any Channel { self is any SocketOptionProvider ? self : parent ?? self }
}
