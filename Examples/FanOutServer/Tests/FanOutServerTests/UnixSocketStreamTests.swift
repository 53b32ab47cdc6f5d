import Testing

/// Streams on a Unix socket, of which the system does not tell when its client has taken something.
@Suite(.timeLimit(.minutes(5))) struct UnixSocketStreamTests {
  private static let text = String(repeating: "x", count: 60_000)

  @Test func aStalledReaderWithPolicyDisconnectIsClosed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("socket")
    let server = try ServerProcess([
      "--unix-socket", path, "--heartbeat", "0.2", "--buffer", "4", "--history", "1",
    ])
    _ = server.listeningLine()
    func request(_ line: String, _ body: String = "") async throws -> String {
      let client = try await RawClient.connect(path: path)
      try await client.send(
        "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      return try await client.readAll()
    }
    func wait(forStreams count: Int) async throws {
      while try await !request("GET /metrics").contains("\nfanout_streams \(count)\n") {
        try Task.checkCancellation()
      }
    }
    var clients: [RawClient] = []
    for query in ["", "?policy=disconnect"] {
      let client = try await RawClient.connect(path: path)
      try await client.send("GET /topics/a/events\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      clients.append(client)
      try await wait(forStreams: clients.count)
    }
    // More than the kernel's buffers hold.
    for _ in 0..<40 { _ = try await request("POST /topics/a", Self.text) }
    try await wait(forStreams: 1)
    // The stream with another policy stays open.
    #expect(try await clients[0].read(until: "event: missed").contains(Self.text))
    for client in clients { await client.close() }
    server.terminate()
    _ = try server.wait()
  }
}
