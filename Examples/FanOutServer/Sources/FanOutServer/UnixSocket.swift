internal import FanOutCore
internal import NIOCore
internal import NIOPosix

/// The Unix socket on which the server listens.
enum UnixSocket {
  /// Refuses a socket on which another server listens, and which this one would take over. The file
  /// of a server that was killed is none.
  static func check(_ settings: Settings) async throws {
    guard let path = settings.unixSocket else { return }
    let connection = try? await ClientBootstrap(
      group: settings.eventLoops ?? MultiThreadedEventLoopGroup.singleton
    ).connect(unixDomainSocketPath: path).get()
    guard let connection else { return }
    connection.close(promise: nil)
    throw Failure("cannot serve on \(path): another server listens on it")
  }
}
