import Foundation
import NIOCore
import NIOPosix
import Testing

/// `--health`, which asks the server that runs with the same configuration.
@Suite(.timeLimit(.minutes(5))) struct HealthCheckTests {
  /// - Returns: the status of the exit, and the output.
  private func health(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> (status: Int32?, output: ServerOutput) {
    let check = try ServerProcess(["--health"] + arguments, environment: environment)
    let output = try check.wait()
    return (check.exitStatus, output)
  }

  @Test(arguments: ["127.0.0.1", "0.0.0.0", "localhost", "[::1]"], [false, true])
  func aServerIsHealthyUntilItEnds(_ host: String, _ isEncrypted: Bool) throws {
    let folder = try TemporaryFolder()
    let options =
      (isEncrypted ? try TestCertificate.first.write(into: folder) : [])
      + ["--host", host, "--allow-anonymous"]
    let server = try ServerProcess(options + ["--port", "0"])
    let port = try server.port()
    let (status, output) = try health(options, ["FANOUT_PORT": "\(port)"])
    #expect(status == 0)
    #expect(output.standardOutput.hasPrefix(#"{"status":"ok","#))
    #expect(output.errors.isEmpty)
    server.terminate()
    _ = try server.wait()
    let address = ["0.0.0.0": "127.0.0.1", "[::1]": "::1"][host] ?? host
    let (laterStatus, laterOutput) = try health(options + ["--port=\(port)"])
    #expect(laterStatus == 1)
    #expect(laterOutput.standardOutput.isEmpty)
    #expect(
      laterOutput.errors == "fan-out-server: no server answers on \(address), port \(port)\n")
  }

  @Test func aServerOnAUnixSocketIsHealthyUntilItEnds() throws {
    let folder = try TemporaryFolder()
    let options = ["--unix-socket", folder.path("socket")]
    let server = try ServerProcess(options)
    _ = server.listeningLine()
    #expect(try health(options).status == 0)
    server.terminate()
    _ = try server.wait()
    #expect(try health(options).status == 1)
  }

  @Test func thePortMustBeKnown() throws {
    let (status, output) = try health(["--port", "0"])
    #expect(status != 0)
    #expect(output.errors == "fan-out-server: --health: the port of --port 0 is unknown\n")
  }

  @Test(arguments: [
    ("HTTP/1.1 503 x\r\n\r\n{\"status\":\"closing\"}\n", #"{"status":"closing"}"#),
    ("", "no answer"), ("HTTP/1.0 200 OK\r\n\r\n", "no answer"),
  ])
  func anotherAnswerIsNotHealthy(_ answer: String, _ reason: String) async throws {
    let (port, status, output) = try await health(of: answer)
    #expect(status == 1)
    #expect(
      output.errors
        == "fan-out-server: the server on 127.0.0.1, port \(port) is not healthy: \(reason)\n")
  }

  @Test(arguments: [(200, 0), (500, 1)] as [(Int, Int32)])
  func onlyTheBeginningOfALongAnswerIsRead(_ answer: Int, _ expected: Int32) async throws {
    let body = String(repeating: "x", count: 1 << 22)
    let (_, status, output) = try await health(of: "HTTP/1.1 \(answer) x\r\n\r\n\(body)")
    #expect(status == expected)
    let text = output.standardOutput + output.errors
    #expect(text.contains("xxx"))
    #expect(text.utf8.count < 1 << 18)
  }

  /// - Returns: the result for a server that gives `answer`, and its port.
  private func health(
    of answer: String
  ) async throws -> (port: Int, status: Int32?, output: ServerOutput) {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
          }
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let (status, output) = try health(["--port", "\(port)"])
    try await server.close()
    return (port, status, output)
  }
}
