import Foundation
import Testing

@testable import FanOutServer

/// Lines of both logs about values that contain what would end a string, a field or a line.
@Suite(.timeLimit(.minutes(5))) struct HostileLogTests {
  /// Quotes, backslashes, ends of lines, other control characters, and what is not ASCII.
  private static let text = "a\"b\\c\nd\u{1}e\u{2028}ä"

  private func object(_ line: some StringProtocol) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
    return try #require(value as? [String: Any], "\(line)")
  }

  @Test func eachLineOfTheLogIsAnObject() async throws {
    let folder = try TemporaryFolder()
    let file = URL(filePath: folder.path("") + Self.text)
    try Data("0123456789abcdef".utf8).write(to: file)
    let server = try ServerProcess(
      [
        "--port", "0", "--log-format", "json", "--log-level", "trace",
        "--publish-token-file", file.path(percentEncoded: false),
      ], environment: ["FANOUT_\(Self.text)": "1"])
    let port = try server.port()
    // What a log of refusals has of a request.
    for line in ["GET /\"\\ HTTP/1.1", "POST /topics/a?event=%22%0a%ff HTTP/1.1", "\"\\"] {
      let client = try await RawClient.connect(port: port)
      try await client.send(line + "\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      _ = try await client.readAll()
    }
    try Data("short".utf8).write(to: file)
    server.send(SIGHUP)
    try server.waitForErrors(containing: "SIGHUP")
    server.terminate()
    let lines = try server.wait().errors.split(separator: "\n")
    let messages = try lines.map { try #require(try object($0)["message"] as? String) }
    #expect(
      messages.contains("the environment variable FANOUT_\(Self.text) is not an option"),
      "\(messages)")
    #expect(messages.contains { $0.contains("'\(file.path(percentEncoded: false))': the token") })
    #expect(messages.count { $0 == "refused a request" } == 3)
  }

  /// A parent such as Node.js makes its pipes non-blocking.
  @Test func aLineIsWholeAlthoughThePipeTakesItInParts() throws {
    let pipe = Pipe()
    let file = pipe.fileHandleForWriting
    _ = fcntl(file.fileDescriptor, F_SETFL, O_NONBLOCK)
    let line = String(repeating: "x", count: 1 << 20)
    Thread.detachNewThread {
      writeLine(line, to: file.fileDescriptor)
      try? file.close()
    }
    let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
    #expect(text.count == line.utf8.count + 1)
  }

  @Test(arguments: ["json", "combined"])
  func eachRequestHasALine(_ format: String) async throws {
    let server = try ServerProcess(["--port", "0", "--access-log", format])
    let port = try server.port()
    // Not UTF-8.
    let bytes = Array("\"\\\t\u{2028}ä".utf8) + [0xff, 0xc3]
    let requests = [
      Array("GET /topics?prefix=%22%0a%ff HTTP/1.1\r\nUser-Agent: ".utf8) + bytes,
      Array("GET /topics HTTP/1.1\r\nReferer: http://".utf8) + bytes,
      Array("GET /topics?prefix=".utf8) + bytes + Array(" HTTP/1.1".utf8),
      Array("GET /".utf8) + bytes + Array(" HTTP/1.1".utf8),
      bytes + Array(" / HTTP/1.1".utf8),
    ]
    for request in requests {
      let client = try await RawClient.connect(port: port)
      let fields = "\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      try await client.send(request + Array(fields.utf8))
      _ = try await client.readAll()
    }
    server.terminate()
    let lines = try server.wait().standardOutput.split(separator: "\n")
    #expect(lines.count == requests.count, "\(lines)")
    let printable = lines.allSatisfy { $0.utf8.allSatisfy { (0x20...0x7e).contains($0) } }
    #expect(printable, "\(lines)")
    let escaped = #"\x22\x5C\x09\xE2\x80\xA8\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD"#
    if format == "json" {
      let objects = try lines.map(object)
      #expect(objects.first?["agent"] as? String == escaped)
      #expect(objects.first?["path"] as? String == "/topics?prefix=%22%0a%ff")
      #expect(objects.dropFirst().first?["referer"] as? String == "http://\(escaped)")
    } else {
      #expect(lines.first?.hasSuffix(" \"-\" \"\(escaped)\"") == true)
      #expect(lines.dropFirst().first?.hasSuffix(" \"http://\(escaped)\" \"-\"") == true)
    }
  }
}
