import Foundation
import Testing

/// The server as a process.
@Suite(.timeLimit(.minutes(5))) struct ProgramTests {
  @Test(
    arguments: [
      (["--port", "65536"], "--port: 65536 is not between 0 and 65535"),
      (["--port", "x"], "The value 'x' is invalid for '--port <port>'"),
      (["--nothing"], "Unknown option '--nothing'"),
      (["rest"], "Unexpected argument 'rest'"),
      (["--buffer", "0"], "--buffer: 0 is not between 1 and 1000000"),
      (["--heartbeat", "nan"], "--heartbeat: nan is not between 0.1 and 3600.0"),
      (["--event-loops", "0"], "--event-loops: 0 is not between 1 and 256"),
      (["--relay-bytes=-1"], "--relay-bytes: -1 is not between 1048576 and 1125899906842624"),
      (["--log-level", "loud"], "--log-level: 'loud' is not a level such as debug or warning"),
      (
        ["--allow-origin", "example.org/"],
        "--allow-origin: 'example.org/' is not an origin such as https://example.org"
      ),
      (
        ["--publish-token-file", "/nothing"],
        "--publish-token-file: cannot read '/nothing'"
      ),
      (
        ["--host", "0.0.0.0"],
        "--host 0.0.0.0 is not a loopback address: use --publish-token-file and "
          + "--subscribe-token-file, or --jwt-key-file, or --allow-anonymous"
      ),
      (
        ["--allow-anonymous=", "--port", "65536"],
        "--allow-anonymous: the option takes no value, and '--allow-anonymous=' has an empty one"
      ),
      (["--no-allow-anonymous=", "--port", "65536"], "--no-allow-anonymous: the option takes no"),
      (["--health=", "--port", "65536"], "--health: the option takes no value"),
      (["--host", "127.0.0.1.example.org", "--port", "0"], "--host 127.0.0.1.example.org is not"),
    ])
  func aWrongOptionIsOneLine(_ arguments: [String], _ message: String) throws {
    let server = try ServerProcess(arguments)
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    #expect(output.errors.hasPrefix("fan-out-server: \(message)"), "\(output.errors)")
    #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
    #expect(output.standardOutput.isEmpty)
  }

  #if os(Linux)
    @Test(arguments: [1, 3]) func itHasAsManyEventLoopsAsAskedFor(_ count: Int) throws {
      let server = try ServerProcess(["--port", "0", "--event-loops", "\(count)"])
      defer { server.terminate() }
      _ = server.listeningLine()
      // NIO's own, which are not for the server, have another prefix.
      let threads = try server.threadNames().filter {
        $0.hasPrefix("NIO-ELT") || $0.hasPrefix("NIO-SGLTN")
      }
      #expect(threads.count == count, "\(threads)")
    }
  #endif

  @Test func helpIsNoError() throws {
    let server = try ServerProcess(["--help"])
    #expect(try server.wait().standardOutput.contains("--publish-token-file"))
    #expect(server.exitStatus == 0)
  }

  @Test(arguments: ["127.0.0.1", "localhost", "::1", "[::1]"])
  func aSignalEndsIt(_ host: String) throws {
    let server = try ServerProcess(["--port", "0", "--host", host])
    let line = server.listeningLine()
    #expect(line.hasPrefix("listening on http://"), "\(line)")
    server.terminate()
    #expect(try server.wait().errors.isEmpty)
    #expect(server.exitStatus == 0)
  }

  #if os(Linux)
    /// An error of a server that has listened is not one of its address.
    @Test func aServerThatCannotListenAnyMoreEnds() throws {
      let server = try ServerProcess(["--port", "0", "--drain", "0"])
      _ = server.listeningLine()
      guard try server.endListening() else { return server.terminate() }
      let output = try server.wait()
      #expect(try #require(server.exitStatus) != 0)
      #expect(output.errors.hasPrefix("fan-out-server: the server has ended: "), "\(output.errors)")
      #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
    }
  #endif
}
