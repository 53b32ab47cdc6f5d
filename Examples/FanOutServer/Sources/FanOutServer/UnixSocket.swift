internal import FanOutCore
internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The Unix socket on which the server listens.
enum UnixSocket {
  /// Refuses a socket on which another server listens, or may listen, and which this one would take
  /// over. The file of a server that was killed is none.
  static func check(_ settings: Settings) async throws {
    guard let path = settings.unixSocket else { return }
    do {
      let connection = try await ClientBootstrap(
        group: settings.eventLoops ?? MultiThreadedEventLoopGroup.singleton
      ).connect(unixDomainSocketPath: path).get()
      connection.close(promise: nil)
    } catch {
      switch (error as? IOError)?.errnoCode {
      // The server is so busy that its queue is full (on Linux), or it takes datagrams.
      case EAGAIN, EPROTOTYPE: break
      // A user who may write to the folder can replace the file, also that of another user.
      case EACCES where access(path, F_OK) == 0:
        throw Failure(
          "cannot serve on \(path): this user may not connect to it, and so cannot tell whether "
            + "another server listens on it: use another path, or remove it")
      default: return
      }
    }
    throw Failure("cannot serve on \(path): another server listens on it")
  }
}
