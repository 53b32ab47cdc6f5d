import Foundation
import Testing

/// The server as a process.
@Suite(.timeLimit(.minutes(5))) struct ProgramTests {
  /// The program is built beside the tests.
  private func start(_ arguments: [String]) throws -> (process: Process, out: Pipe, err: Pipe) {
    let process = Process()
    let tests = URL(filePath: CommandLine.arguments[0])
    process.executableURL = tests.deletingLastPathComponent().appending(path: "fan-out-server")
    process.arguments = arguments
    let (out, err) = (Pipe(), Pipe())
    process.standardOutput = out
    process.standardError = err
    try process.run()
    return (process, out, err)
  }

  private func text(_ pipe: Pipe) throws -> String {
    String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  }

  @Test(
    arguments: [
      (["--port", "65536"], "--port: 65536 is not between 0 and 65535"),
      (["--port", "x"], "The value 'x' is invalid for '--port <port>'"),
      (["--nothing"], "Unknown option '--nothing'"),
      (["rest"], "Unexpected argument 'rest'"),
      (["--buffer", "0"], "--buffer: 0 is not between 1 and 1000000"),
      (["--heartbeat", "nan"], "--heartbeat: nan is not between 0.1 and 3600.0"),
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
          + "--subscribe-token-file, or --allow-anonymous"
      ),
      (["--host", "127.0.0.1.example.org", "--port", "0"], "--host 127.0.0.1.example.org is not"),
      (["--host", "192.0.2.1", "--allow-anonymous"], "cannot serve on 192.0.2.1, port 8080: "),
    ])
  func aWrongOptionIsOneLine(_ arguments: [String], _ message: String) throws {
    let (process, out, err) = try start(arguments)
    let text = try text(err)
    process.waitUntilExit()
    #expect(process.terminationStatus != 0)
    #expect(text.hasPrefix("fan-out-server: \(message)"), "\(text)")
    #expect(text.split(separator: "\n").count == 1, "\(text)")
    #expect(try self.text(out).isEmpty)
  }

  @Test func helpIsNoError() throws {
    let (process, out, _) = try start(["--help"])
    #expect(try text(out).contains("--publish-token-file"))
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test(arguments: ["127.0.0.1", "localhost", "::1"])
  func aSignalEndsIt(_ host: String) throws {
    let (process, out, err) = try start(["--port", "0", "--host", host])
    let line = String(decoding: out.fileHandleForReading.availableData, as: UTF8.self)
    #expect(line.hasPrefix("listening on http://"), "\(line)")
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(try text(err).isEmpty)
  }
}
