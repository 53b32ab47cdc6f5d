import Foundation
import Testing

/// SIGHUP reads the token files again.
@Suite(.timeLimit(.minutes(5))) struct ReloadTests {
  private static let old = ["publisher-old-0123456789", "subscriber-old-0123456789"]
  private static let new = ["publisher-new-0123456789", "subscriber-new-0123456789"]

  /// The status of a publication with one token and of a list of topics with another.
  private func statuses(_ port: Int, _ tokens: [String]) async throws -> [Substring] {
    var statuses: [Substring] = []
    for (line, token) in zip(["POST /topics/a", "GET /topics"], tokens) {
      let client = try await RawClient.connect(port: port)
      try await client.send(
        "\(line) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
          + "Content-Length: 1\r\nConnection: close\r\n\r\nx")
      statuses.append(try await client.readAll().dropFirst("HTTP/1.1 ".count).prefix(3))
    }
    return statuses
  }

  private func stream(_ port: Int) async throws -> RawClient {
    let client = try await RawClient.connect(port: port)
    try await client.send(
      "GET /topics/a/events HTTP/1.1\r\nHost: localhost\r\n"
        + "Authorization: Bearer \(Self.old[1])\r\n\r\n")
    _ = try await client.read(until: "retry: 2000\n\n")
    return client
  }

  @Test func newTokensReplaceOldOnesAndStreamsStay() async throws {
    let files = try TokenFiles(publish: [Self.old[0]], subscribe: [Self.old[1]])
    defer { files.remove() }
    let server = try ServerProcess(["--port", "0", "--log-level", "notice"] + files.options)
    let port = try server.port()
    let stream = try await stream(port)
    #expect(try await statuses(port, Self.old) == ["200", "200"])
    #expect(try await statuses(port, Self.new) == ["401", "401"])
    try files.write(publish: [Self.new[0]], subscribe: [Self.new[1]])
    server.send(SIGHUP)
    while try await statuses(port, Self.new) != ["200", "200"] { try Task.checkCancellation() }
    #expect(try await statuses(port, Self.old) == ["401", "401"])
    // The stream gets an event of a later publication.
    let count = try await stream.read(until: "data: x\n\n").ranges(of: "data: x").count
    #expect(count >= 1)
    #expect(try await statuses(port, Self.new) == ["200", "200"])
    server.terminate()
    let events = try await stream.readAll().ranges(of: "data: x").count
    #expect(events >= 3)
    let output = try server.wait()
    #expect(server.exitStatus == 0)
    #expect(output.errors.contains("read the files of tokens and certificates again"))
    for token in Self.old + Self.new { #expect(!output.contains(token)) }
  }

  @Test(arguments: ["short", "", nil])
  func afterABadFileAllOldTokensStay(_ text: String?) async throws {
    let files = try TokenFiles(publish: [Self.old[0]], subscribe: [Self.old[1]])
    defer { files.remove() }
    let server = try ServerProcess(["--port", "0"] + files.options)
    let port = try server.port()
    // The first file is good, the second one is not: neither counts.
    try files.write(publish: [Self.new[0]], subscribe: text.map { [$0] })
    server.send(SIGHUP)
    try server.waitForErrors(containing: "the old tokens stay valid")
    #expect(try await statuses(port, Self.old) == ["200", "200"])
    #expect(try await statuses(port, Self.new) == ["401", "401"])
    server.terminate()
    let output = try server.wait()
    #expect(server.exitStatus == 0)
    #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
    #expect(output.errors.contains("--subscribe-token-file: "), "\(output.errors)")
  }

  @Test func withoutTokensItContinues() async throws {
    let server = try ServerProcess(["--port", "0", "--log-level", "notice"])
    let port = try server.port()
    server.send(SIGHUP)
    try server.waitForErrors(containing: "read the files of tokens and certificates again")
    #expect(try await statuses(port, Self.old) == ["200", "200"])
    server.terminate()
    _ = try server.wait()
    #expect(server.exitStatus == 0)
  }
}
