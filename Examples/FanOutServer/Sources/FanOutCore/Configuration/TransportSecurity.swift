public import NIOCore

/// Encrypts connections, for example with TLS.
public protocol TransportSecurity: Sendable {
  /// Makes the handler of a new connection. It negotiates `h2` or `http/1.1`, and fires
  /// `TLSUserEvent.handshakeCompleted`.
  func makeServerHandler() -> any ChannelHandler
}
