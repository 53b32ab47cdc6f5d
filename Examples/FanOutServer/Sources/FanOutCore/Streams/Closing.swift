internal import NIOCore

/// Closes a connection of HTTP/1, or a stream of HTTP/2.
///
/// The end of a stream waits behind what its client does not read from the connection. So if the
/// stream is still open at the second attempt, and the connection takes nothing, closes the
/// connection.
struct Closing {
  private var hasBegun = false

  /// What to close now. It is closed outside of this function, because that may lead to a second
  /// call: it fails the writes that wait.
  mutating func target(_ channel: any Channel) -> any Channel {
    target(channel, of: channel.socket)
  }

  /// - Parameter socket: the connection of `channel`, or `channel` itself.
  mutating func target(_ channel: any Channel, of socket: any Channel) -> any Channel {
    defer { hasBegun = true }
    return hasBegun && socket !== channel && !socket.isWritable ? socket : channel
  }
}

extension Channel {
  /// The channel with the socket: that of the connection, for a stream of HTTP/2.
  var socket: any Channel { self is any SocketOptionProvider ? self : parent ?? self }
}
