import FanOutTLS
import Foundation
import Testing

/// The options of TLS.
@Suite(.timeLimit(.minutes(5))) struct TLSProgramTests {
  private func isTrusted(_ certificate: TestCertificate, _ port: Int) async throws -> Bool {
    let client = try await HTTP2Client.connect(port: port, certificate)
    let answer = try? await client.get("/health").readAll()
    await client.close()
    return answer?.hasPrefix(":status: 200\n") ?? false
  }

  @Test func aNewCertificateReplacesTheOldOneAndStreamsStay() async throws {
    let folder = try TemporaryFolder()
    let options = try TestCertificate.first.write(into: folder)
    let server = try ServerProcess(["--port", "0", "--log-level", "notice"] + options)
    let line = server.listeningLine()
    #expect(line.hasPrefix("listening on https://127.0.0.1:"))
    let port = try #require(line.split(separator: ":").last.flatMap { Int($0.dropLast()) })
    let client = try await HTTP2Client.connect(port: port, .first)
    let stream = try await client.get("/topics/a/events")
    _ = try await stream.read(until: "retry:")
    #expect(try await isTrusted(.first, port))
    #expect(try await !isTrusted(.second, port))
    try TestCertificate.second.write(into: folder)
    server.send(SIGHUP)
    try server.waitForErrors(containing: "read the files of tokens and certificates again")
    #expect(try await isTrusted(.second, port))
    #expect(try await !isTrusted(.first, port))
    // The connection from before takes requests, too.
    let answer = try await client.request(HTTP2Client.head("POST", "/topics/a")).readAll()
    #expect(answer.hasPrefix(":status: 200\n"))
    #expect(try await stream.read(until: "data: \n").contains("data: \n"))
    server.terminate()
    _ = try server.wait()
    #expect(server.exitStatus == 0)
  }

  @Test(arguments: ["certificate", "key"], ["", "x", nil])
  func afterABadFileTheOldCertificateStays(_ name: String, _ text: String?) async throws {
    let folder = try TemporaryFolder()
    let options = try TestCertificate.first.write(into: folder)
    let server = try ServerProcess(["--port", "0"] + options)
    let port = try server.port()
    try TestCertificate.second.write(into: folder)
    if let text {
      try text.write(toFile: folder.path(name), atomically: true, encoding: .utf8)
    } else {
      try FileManager.default.removeItem(atPath: folder.path(name))
    }
    server.send(SIGHUP)
    try server.waitForErrors(
      containing: "the old tokens stay valid, and the old certificate: --tls-\(name):")
    #expect(try await isTrusted(.first, port))
    server.terminate()
    let output = try server.wait()
    #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
    #expect(!output.contains("BEGIN"))
  }

  @Test func wrongFilesAreOneLine() throws {
    let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
    let options = try TestCertificate.first.write(into: first)
    let others = try TestCertificate.second.write(into: second)
    let (certificate, key, otherKey) = (options[1], options[3], others[3])
    func check(
      _ certificate: String?, _ key: String?, _ message: String, _ others: [String] = []
    ) throws {
      let server = try ServerProcess(
        ["--port", "0"] + others + (certificate.map { ["--tls-certificate", $0] } ?? [])
          + (key.map { ["--tls-key", $0] } ?? []))
      let output = try server.wait()
      #expect(try #require(server.exitStatus) != 0)
      #expect(output.errors == "fan-out-server: \(message)\n")
      #expect(output.standardOutput.isEmpty)
    }
    let missing = "--tls-certificate and --tls-key: the other one is missing"
    try check(certificate, nil, missing)
    try check(nil, key, missing)
    try check(
      certificate, otherKey,
      "--tls-key: '\(otherKey)': the key is not that of the certificate, or they are not for TLS")
    try check(key, key, "--tls-certificate: '\(key)': it is not a certificate in PEM")
    try check(
      certificate, certificate,
      "--tls-key: '\(certificate)': it is not a private key in PEM without a passphrase")
    try check(certificate, "/nothing", "--tls-key: cannot read '/nothing'")
    try check(
      certificate, key,
      "--max-connections: a connection of HTTP/2 and its first request need 2, and this is 1",
      ["--max-connections", "1"])
  }

  @Test func anExpiredCertificateIsAWarning() async throws {
    let folder = try TemporaryFolder()
    let options = try TestCertificate.expired.write(into: folder)
    let server = try ServerProcess(["--port", "0"] + options)
    _ = try server.port()
    try server.waitForErrors(containing: "--tls-certificate: '\(options[1])' has expired")
    #expect(try TestCertificate.expired.value.timeLeft < .zero)
    #expect(try TestCertificate.first.value.timeLeft > .seconds(86_400 * 365 * 50))
    server.terminate()
    _ = try server.wait()
  }

  @Test func aCertificateThatExpiresSoonIsAWarning() {
    func warning(days: Double) -> String? {
      TLSCertificate.Value.expiryWarning(.seconds(days * 86_400))
    }
    #expect(warning(days: 14) == nil)
    #expect(warning(days: 13.9) == "expires in 13 days")
    #expect(warning(days: 0.5) == "expires in 0 days")
    #expect(warning(days: -0.5) == "has expired")
  }

  @Test func theAccessLogHasEachRequest() async throws {
    let folder = try TemporaryFolder()
    let options = try TestCertificate.first.write(into: folder)
    let log = folder.path("access")
    let server = try ServerProcess(
      ["--port", "0", "--heartbeat", "3600", "--access-log", "combined", "--access-log-file", log]
        + options)
    let client = try await HTTP2Client.connect(port: try server.port(), .first)
    let stream = try await client.get(
      "/topics/a/events?access_token=secret",
      [("user-agent", "a \"b\""), ("referer", "http://c?d")])
    let begin = try await stream.read(until: "retry: 2000\n\n")
    let bytes =
      begin.utf8.count - (begin.firstRange(of: "\n\n")?.upperBound.utf16Offset(in: begin) ?? 0)
    _ = try await client.get("/health").readAll()
    let refused = try await client.request([
      (":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "secret"),
    ]).readAll()
    await stream.close()
    await client.close()
    server.terminate()
    _ = try server.wait()
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map {
      line in
      line.split(separator: "] ", maxSplits: 1).last.map(String.init) ?? ""
    }
    let body = refused.split(separator: "\n\n").last?.utf8.count ?? 0
    #expect(
      lines.sorted() == [
        #""GET /health HTTP/2.0" 200 59 "-" "-""#,
        #""GET /topics/a/events?... HTTP/2.0" 200 \#(bytes) "http://c" "a \x22b\x22""#,
        #""GET unknown HTTP/2.0" 400 \#(body) "-" "-""#,
      ])
  }
}
