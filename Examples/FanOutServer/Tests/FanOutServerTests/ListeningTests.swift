import Foundation
import NIOCore
import Testing

@testable import FanOutServer

/// What the server says if it cannot listen.
@Suite(.timeLimit(.minutes(5))) struct ListeningTests {
  /// Expects that a server with `arguments` ends with this line.
  private func expect(_ message: String, _ arguments: [String]) throws {
    let server = try ServerProcess(arguments)
    let line = server.listeningLine()
    #expect(line.isEmpty, "\(line)")
    server.terminate()
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    #expect(output.errors == "fan-out-server: \(message)\n")
  }

  @Test func thePortIsInUse() throws {
    let server = try ServerProcess(["--port", "0"])
    let port = try server.port()
    try expect(
      "cannot serve on 127.0.0.1, port \(port): another program listens there: end it, or use "
        + "another --port",
      ["--port", "\(port)"])
    server.terminate()
    _ = try server.wait()
  }

  @Test func theMachineDoesNotHaveTheAddress() throws {
    try expect(
      "cannot serve on 192.0.2.1, port 8080: this machine does not have the address: use one that "
        + "it has, or --host 0.0.0.0 for all",
      ["--host", "192.0.2.1", "--allow-anonymous"])
  }

  @Test func noAddressHasTheName() throws {
    let server = try ServerProcess(["--host", "nothing.invalid", "--allow-anonymous"])
    let errors = try server.wait().errors
    let beginning =
      "fan-out-server: cannot serve on nothing.invalid, port 8080: no address has this name ("
    #expect(errors.hasPrefix(beginning), "\(errors)")
    #expect(errors.hasSuffix("): use an address of this machine\n"), "\(errors)")
  }

  @Test(arguments: ["", "localhost:8080", "[::1]:8080", "[127.0.0.1]", "127.0.0.1 ", "http://a"])
  func theHostIsWrong(_ host: String) throws {
    try expect(
      "--host: '\(host)' is neither an address such as 127.0.0.1 or ::1 nor a name; the port is "
        + "that of --port",
      ["--host", host])
  }

  @Test func theFolderOfTheSocketIsMissing() throws {
    try expect(
      "cannot serve on /nothing/x: there is no folder '/nothing': create it, or use another path",
      ["--unix-socket", "/nothing/x"])
  }

  @Test func theFolderOfTheSocketIsAFile() throws {
    try expect(
      "cannot serve on /etc/hosts/x: '/etc/hosts' is not a folder: use another path",
      ["--unix-socket", "/etc/hosts/x"])
  }

  @Test func theFileIsNotASocket() throws {
    try expect(
      "cannot serve on /etc/hosts: the file is not a socket: use another path",
      ["--unix-socket", "/etc/hosts"])
  }

  #if os(Linux)
    /// The queue of its socket is full, or it takes datagrams.
    @Test(arguments: [SOCK_STREAM, SOCK_DGRAM])
    func aBusyServerListensOnTheSocket(_ kind: __socket_type) throws {
      let folder = try TemporaryFolder()
      let path = folder.path("socket")
      let address = try SocketAddress(unixDomainSocketPath: path)
      let sockets = (0..<3).map { _ in socket(AF_UNIX, Int32(kind.rawValue), 0) }
      defer { for socket in sockets { close(socket) } }
      #expect(address.withSockAddr { bind(sockets[0], $0, socklen_t($1)) } == 0)
      if kind == SOCK_STREAM {
        #expect(listen(sockets[0], 0) == 0)
        #expect(address.withSockAddr { connect(sockets[1], $0, socklen_t($1)) } == 0)
        #expect(fcntl(sockets[2], F_SETFL, O_NONBLOCK) == 0)
        #expect(address.withSockAddr { connect(sockets[2], $0, socklen_t($1)) } == -1)
        #expect(errno == EAGAIN)
      }
      try expect(
        "cannot serve on \(path): another server listens on it", ["--unix-socket", path])
    }
  #endif

  @Test func thePathOfTheSocketIsTooLong() throws {
    let path = "/" + String(repeating: "x", count: 103)
    try expect(
      "--unix-socket: the path '\(path)' has 104 bytes, more than 103: use a shorter one",
      ["--unix-socket", path])
    try expect("--unix-socket: the path is empty", ["--unix-socket", ""])
  }

  /// A user who may do everything does not get these.
  @Test(
    arguments: [
      (
        EACCES, 80,
        "this user may not use a port below 1024: use another --port, or give the "
          + "program the capability CAP_NET_BIND_SERVICE"
      ),
      (EACCES, 8080, "this user may not use the port: use another --port"),
      (EMFILE, 8080, "Too many open files"),
    ] as [(Int32, Int, String)])
  func thePortIsNotAllowed(_ code: Int32, _ port: Int, _ reason: String) {
    let error = IOError(errnoCode: code, reason: "bind")
    #expect(ListeningPlace.port(port, host: "127.0.0.1").reason(error) == reason)
  }

  @Test(
    arguments: [
      (
        "/run/a/b", EACCES,
        "this user may not create files in '/run/a': change its permissions, or "
          + "use another path"
      ),
      ("/a", EROFS, "the file system of '/' is read-only: use another path"),
      (
        "a", EACCES,
        "this user may not create files in '.': change its permissions, or use another "
          + "path"
      ),
      (
        "/tmp/a", EPERM,
        "the file belongs to another user, or the folder takes no sockets: use another path"
      ),
    ] as [(String, Int32, String)])
  func theSocketIsNotAllowed(_ path: String, _ code: Int32, _ reason: String) {
    let error = IOError(errnoCode: code, reason: "bind")
    #expect(ListeningPlace.unixSocket(path).reason(error) == reason)
  }

  @Test(
    arguments: [
      ("::1", "::1"), ("[::1]", "::1"), ("fe80::1%eth0", "fe80::1%eth0"),
      ("a-b.example_1", "a-b.example_1"), ("[::1", nil), ("::g", nil), ("[]", nil), ("a:1", nil),
    ] as [(String, String?)])
  func anIPv6AddressMayHaveBrackets(_ text: String, _ host: String?) {
    #expect(ListeningPlace.host(text) == host)
  }

  /// The number of connections that the message names is not negative.
  @Test func theLimitOfOpenFilesIsTooLow() throws {
    let error = try #require(throws: (any Error).self) {
      try OpenFileLimit.connections(nil, eventLoops: 1 << 40)
    }
    #expect("\(error)".hasPrefix("--max-connections: 1 needs "), "\(error)")
  }
}
