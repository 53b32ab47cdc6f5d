internal import FanOutCore
internal import NIOCore
internal import NIOPosix

/// The Unix socket on which the server listens.
enum UnixSocket {
  /// Refuses a socket on which another server listens, and which this one would take over. The file of
  /// a server that was killed is none.
  static func check(_ settings: Settings) async throws {
    guard let path = settings.unixSocket else { return }
    let connection = try? await ClientBootstrap(
      group: settings.eventLoops ?? MultiThreadedEventLoopGroup.singleton
    ).connect(unixDomainSocketPath: path).get()
    guard let connection else { return }
    connection.close(promise: nil)
    throw Failure("cannot serve on \(path): another server listens on it")
  }

  /// Why the server cannot listen, as a sentence; `nil` if `error` is not one of the path.
  static func reason(_ error: any Error) -> String? {
    error is UnixDomainSocketPathWrongType ? "the file is not a socket" : nil
  }
}
