import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct AccessLogTests {
  private static let token = "opensesame-0123456789"

  /// A file in the folder of temporary files.
  private struct File {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "access-\(UUID().uuidString)"
    ).path()

    var lines: [String] {
      get throws {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
          .split(separator: "\n").map(String.init)
      }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Sends `text` to a server, and waits for the end of the connection.
  private func send(_ text: String, _ port: Int) async throws {
    let client = try await RawClient.connect(port: port)
    try await client.send(text)
    if text.contains("/events") {
      // A stream, which does not end.
      _ = try await client.read(until: "\r\n\r\n")
      await client.close()
    } else {
      await client.finish()
      _ = try await client.readAll()
    }
  }

  private func metrics(_ port: Int) async throws -> String {
    let client = try await RawClient.connect(port: port)
    try await client.send(head("GET /metrics"))
    await client.finish()
    return try await client.readAll()
  }

  private func head(_ line: String, _ fields: String...) -> String {
    ([line + " HTTP/1.1", "Host: localhost"] + fields + ["", ""]).joined(separator: "\r\n")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func linesThatCannotBeWrittenAreCounted() async throws {
    let server = try ServerProcess([
      "--port", "0", "--access-log", "json", "--access-log-file", "/dev/full",
    ])
    try await send(head("GET /nothing/here"), try server.port())
    try server.waitForErrors(
      containing: "the access log cannot be written (No space left on device): 1 lines are dropped")
    server.terminate()
    _ = try server.wait()
  }

  @Test func eachRequestHasALineInTheCombinedFormat() async throws {
    let file = File()
    defer { file.remove() }
    let server = try ServerProcess([
      "--port", "0", "--access-log", "combined", "--access-log-file", file.path,
    ])
    let port = try server.port()
    try await send(
      head(
        "POST /topics/news?retry=5", "Content-Length: 1", #"User-Agent: a"b\ä"#,
        "Referer: https://page.example/x?secret=1#y") + "x", port)
    try await send(head("GET /nothing/here"), port)
    try await send("GET /health HTTP/1.1\r\n\r\n", port)
    try await send("nonsense\r\n\r\n", port)
    try await send("GET /health HTTP/1.0\r\n\r\n", port)
    let stream = try await RawClient.connect(port: port)
    try await stream.send(head("GET /topics/news/events?policy=latest"))
    let answer = try await stream.read(until: "retry: 2000\n\n\r\n")
    await stream.close()
    // Otherwise the server may write its end to it.
    while try await !metrics(port).contains("fanout_streams 0\n") {
      try Task.checkCancellation()
    }
    server.terminate()
    _ = try server.wait()
    let date = #"\[\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d \+0000\]"#
    let bytes = try #require(answer.firstRange(of: "\r\n\r\n"))
    let count = answer[bytes.upperBound...].utf8.count
    let expected = [
      #""POST /topics/news\?retry=5 HTTP/1.1" 200 \d+ "https://page.example/x" "#
        + #""a\\x22b\\x5C\\xC3\\xA4""#,
      #""GET unknown HTTP/1.1" 404 \d+ "-" "-""#, #""GET /health HTTP/1.1" 400 \d+ "-" "-""#,
      #""- - -" 400 \d+ "-" "-""#, #""GET /health HTTP/1.0" 200 \d+ "-" "-""#,
      #""GET /topics/news/events\?policy=latest HTTP/1.1" 200 \#(count) "-" "-""#,
    ]
    let lines = try file.lines.filter { !$0.contains("GET /metrics") }
    #expect(lines.count == expected.count, "\(lines)")
    for (line, pattern) in zip(lines, expected) {
      let regex = try Regex("127\\.0\\.0\\.1 - - \(date) \(pattern)")
      #expect(line.wholeMatch(of: regex) != nil, "\(line)")
    }
  }

  /// A JSON web token is a valid name, and may be at the place of any other value.
  @Test func tokensAtWrongPlacesAreLeftOut() async throws {
    let file = File()
    defer { file.remove() }
    let server = try ServerProcess([
      "--port", "0", "--access-log", "combined", "--access-log-file", file.path,
    ])
    let port = try server.port()
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Zm9vYmFyZm9vYmFy"
    let targets = [
      "/topics/\(token)", "/topics/\(token)/events?policy=x", "/topics/a/events?policy=\(token)",
      "/topics/a/events?lastEventId=\(token)", "/events?topic=\(token)&policy=x",
      "/topics?after=\(token)", "/topics?prefix=Bearer%20\(token)",
    ]
    for target in targets { try await send(head("GET \(target)"), port) }
    server.terminate()
    _ = try server.wait()
    let lines = try file.lines
    #expect(lines.count == targets.count)
    for line in lines { #expect(!line.contains("eyJ"), "\(line)") }
  }

  @Test func eachRequestHasAJSONObject() async throws {
    let file = File()
    defer { file.remove() }
    let server = try ServerProcess([
      "--port", "0", "--access-log", "json", "--access-log-file", file.path,
    ])
    let port = try server.port()
    try await send(head("POST /topics/news", "Content-Length: 1", #"User-Agent: "\"#) + "x", port)
    server.terminate()
    _ = try server.wait()
    let line = try #require(try file.lines.first)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["status"] as? Int == 200)
    #expect(object["method"] as? String == "POST")
    #expect(object["path"] as? String == "/topics/news")
    #expect(object["agent"] as? String == #"\x22\x5C"#)
    #expect((object["seconds"] as? Double).map { (0..<60).contains($0) } == true)
    #expect((object["time"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z/) != nil)
  }

  @Test(arguments: ["combined", "json"])
  func noLineHasASecret(_ format: String) async throws {
    let files = try TokenFiles(publish: [Self.token], subscribe: [Self.token])
    defer { files.remove() }
    let server = try ServerProcess(
      ["--port", "0", "--access-log", format, "--log-level", "trace"] + files.options)
    let port = try server.port()
    let token = Self.token
    for line in [
      "GET /topics/a/events?access_token=\(token)", "GET /topics?limit=1&access_token=\(token)",
      "GET /health?\(token)", "GET /health?Access_Token=\(token)&x=\(token)", "GET /\(token)",
      "POST /topics/\(token)/", "GET http://\(token)@localhost/health",
      "GET /topics?prefix=a&&=\(token)", "\(token) /", "GET /topics/a&access_token=\(token)",
      "GET /topics/a;access_token=\(token)/events", "GET /topics?limit=1?access_token=\(token)",
    ] {
      try await send(
        head(
          line, "Authorization: Bearer \(token)", "Cookie: access_token=\(token)",
          "Connection: close", "Referer: http://localhost/?access_token=\(token)"), port)
    }
    server.terminate()
    let output = try server.wait()
    #expect(output.standardOutput.split(separator: "\n").count == 12, "\(output.standardOutput)")
    #expect(!output.contains(token), "\(output.text)")
  }

  @Test func thereIsNoneWithoutTheOption() async throws {
    let server = try ServerProcess(["--port", "0"])
    try await send(head("GET /health"), try server.port())
    server.terminate()
    #expect(try server.wait().isEmpty)
  }

  @Test func afterSIGHUPLinesGoToANewFile() async throws {
    let file = File()
    let old = File()
    defer { file.remove() }
    defer { old.remove() }
    let server = try ServerProcess([
      "--port", "0", "--access-log", "combined", "--access-log-file", file.path, "--log-level",
      "notice",
    ])
    let port = try server.port()
    try await send(head("GET /health"), port)
    while try file.lines.isEmpty { try Task.checkCancellation() }
    try FileManager.default.moveItem(atPath: file.path, toPath: old.path)
    server.send(SIGHUP)
    try server.waitForErrors(containing: "read the files of tokens and certificates again")
    try await send(head("GET /metrics"), port)
    server.terminate()
    _ = try server.wait()
    #expect(try old.lines.map { $0.contains("GET /health") } == [true])
    #expect(try file.lines.map { $0.contains("GET /metrics") } == [true])
  }

  @Test(arguments: [
    (["--access-log", "x"], "The value 'x' is invalid for '--access-log <access-log>'"),
    (["--access-log-file", "/tmp/x"], "--access-log-file: there is no --access-log"),
    (
      ["--access-log", "json", "--access-log-file", "/nothing/x"],
      "--access-log-file: cannot open '/nothing/x'"
    ),
    (["--log-format", "xml"], "The value 'xml' is invalid for '--log-format <log-format>'"),
    (["--unix-socket-mode", "999"], "--unix-socket-mode: '999' is not three octal digits"),
    (["--unix-socket-mode", "+66"], "--unix-socket-mode: '+66' is not three octal digits"),
  ])
  func aWrongOptionIsOneLine(_ arguments: [String], _ message: String) throws {
    let server = try ServerProcess(["--port", "0"] + arguments)
    #expect(server.listeningLine().isEmpty)
    server.terminate()
    let output = try server.wait()
    #expect(output.errors.hasPrefix("fan-out-server: \(message)"), "\(output.errors)")
    #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
  }

  @Test func theLogMayBeJSON() async throws {
    let server = try ServerProcess([
      "--port", "0", "--log-format", "json", "--log-level", "info",
    ])
    try await send(head(#"GET /"nothing"#), try server.port())
    server.terminate()
    let lines = try server.wait().errors.split(separator: "\n")
    let objects = try lines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let refusal = try #require(objects.first { $0["message"] as? String == "refused a request" })
    #expect(refusal["level"] as? String == "info")
    #expect(refusal["label"] as? String == "fan-out-server")
    #expect((refusal["metadata"] as? [String: String])?["status"] == "404")
  }

  @Test func itListensOnAUnixSocket() async throws {
    let file = File()
    let server = try ServerProcess([
      "--unix-socket", file.path, "--unix-socket-mode", "600", "--access-log", "combined",
    ])
    #expect(server.listeningLine() == "listening on unix:\(file.path)\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let stream = try await RawClient.connect(path: file.path)
    try await stream.send(head("GET /topics/a/events"))
    _ = try await stream.read(until: "retry: 2000\n\n")
    let publisher = try await RawClient.connect(path: file.path)
    try await publisher.send(head("POST /topics/a", "Content-Length: 5") + "hello")
    #expect(try await publisher.read(until: "}").contains("\"subscribers\":1"))
    _ = try await stream.read(until: "data: hello\n\n")
    await publisher.close()
    await stream.close()
    server.terminate()
    let output = try server.wait()
    #expect(server.exitStatus == 0)
    #expect(output.standardOutput.split(separator: "\n").allSatisfy { $0.hasPrefix("unix: - - [") })
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  /// Otherwise it would take the clients of the other one, which would remove the file at its end.
  @Test func itLeavesTheSocketOfAnotherServer() async throws {
    let file = File()
    let arguments = ["--unix-socket", file.path, "--drain", "2"]
    let first = try ServerProcess(arguments)
    _ = first.listeningLine()
    let second = try ServerProcess(arguments)
    let output = try second.wait()
    #expect(try #require(second.exitStatus) != 0)
    #expect(
      output.errors
        == "fan-out-server: cannot serve on \(file.path): another server listens on it\n")
    // While the first one waits for a client, it listens no more, and a third one may.
    let client = try await RawClient.connect(path: file.path)
    try await client.send("POST /topics/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n")
    first.terminate()
    while FileManager.default.fileExists(atPath: file.path) { try Task.checkCancellation() }
    let third = try ServerProcess(arguments)
    #expect(third.listeningLine() == "listening on unix:\(file.path)\n")
    _ = try first.wait()
    await client.close()
    #expect(FileManager.default.fileExists(atPath: file.path))
    third.terminate()
    _ = try third.wait()
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  /// The file of a server that was killed is still there.
  @Test func itTakesASocketOnWhichNoServerListens() throws {
    let file = File()
    let killed = try ServerProcess(["--unix-socket", file.path])
    _ = killed.listeningLine()
    killed.send(SIGKILL)
    _ = try killed.wait()
    #expect(FileManager.default.fileExists(atPath: file.path))
    let server = try ServerProcess(["--unix-socket", file.path])
    #expect(server.listeningLine() == "listening on unix:\(file.path)\n")
    server.terminate()
    _ = try server.wait()
  }
}
