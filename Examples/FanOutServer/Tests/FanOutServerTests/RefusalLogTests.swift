import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct RefusalLogTests {
  private static let token = "publisher-0123456789"
  private static let refusals = [
    ("GET /health HTTP/1.1\r\n\r\n", 400, "unknown"),
    ("x\r\n\r\n", 400, "unknown"),
    ("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "unknown"),
    ("DELETE /topics HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "/topics"),
    ("POST /topics/a HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "/topics/NAME"),
    (
      "GET /topics/a/events HTTP/1.1\r\nHost: localhost\r\nOrigin: https://b.example\r\n\r\n", 403,
      "/topics/NAME/events"
    ),
    (
      "POST /topics/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
        + "Content-Length: 100000\r\n\r\n", 413, "/topics/NAME"
    ),
  ]

  @Test(arguments: [("info", true), ("notice", false)])
  func refusalsAppearInTheLogAtInfo(_ level: String, _ isLogged: Bool) async throws {
    let files = try TokenFiles(publish: [Self.token], subscribe: [Self.token])
    defer { files.remove() }
    let server = try ServerProcess(
      ["--port", "0", "--log-level", level, "--drain", "0"] + files.options)
    let port = try server.port()
    for (text, status, _) in Self.refusals {
      let client = try await RawClient.connect(port: port)
      try await client.send(text)
      let answer = try await client.read(until: "}")
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      await client.close()
    }
    server.terminate()
    let lines = try server.wait().text.split(separator: "\n").filter { $0.contains("refused") }
    #expect(lines.count == (isLogged ? Self.refusals.count : 0), "\(lines)")
    for (line, (_, status, path)) in zip(lines, Self.refusals) {
      #expect(line.contains(" info "), "\(line)")
      for part in ["status=\(status)", "path=\(path) ", "reason=", "address=127.0.0.1"] {
        #expect(line.contains(part), "\(line)")
      }
    }
  }
}
