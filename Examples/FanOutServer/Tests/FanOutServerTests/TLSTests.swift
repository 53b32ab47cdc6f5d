import FanOutCore
import FanOutTLS
import Foundation
import NIOCore
import Testing

/// Connections with TLS: their time limits, and the ways in which they end.
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
  /// - Parameter idle: the only time limit that matters.
  private func settings(idle: TimeAmount = .hours(24)) -> Settings {
    var settings = Settings()
    settings.idleTimeout = idle
    return settings
  }

  private func connect(_ server: RunningServer, _ protocols: String...) async throws -> RawClient {
    try await .connect(port: server.port, .first, protocols)
  }

  @Test func aClientWithoutTLSIsClosed() async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      let client = try await RawClient.connect(port: server.port)
      try await client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(try await !client.readAll().contains("200"))
    }
  }

  @Test func aHandshakeThatDoesNotEndTimesOut() async throws {
    try await RunningServer.with(settings(idle: .milliseconds(300)), over: .http2) { server in
      let client = try await RawClient.connect(port: server.port)
      #expect(try await client.readAll().isEmpty)
    }
  }

  @Test(arguments: ["h2", "http/1.1"])
  func aConnectionWithoutARequestTimesOut(_ name: String) async throws {
    try await RunningServer.with(settings(idle: .milliseconds(300)), over: .http2) { server in
      _ = try await connect(server, name).readAll()
    }
  }

  @Test func aConnectionBetweenRequestsTimesOut() async throws {
    try await RunningServer.with(settings(idle: .seconds(1)), over: .http2) { server in
      // On a loaded machine the handshake may take longer than the limit.
      var opened: (client: HTTP2Client, stream: RawClient)?
      while opened == nil {
        guard let client = try? await server.connectHTTP2(),
          let stream = try? await client.get("/topics/a/events"),
          try await stream.read(until: "retry:").contains("retry:")
        else { continue }
        opened = (client, stream)
      }
      let (client, stream) = try #require(opened)
      // Longer than the limit, which is not for connections with a stream.
      let begin = ContinuousClock.now
      while begin.duration(to: .now) < .seconds(3) {
        let count = try? await server.metric("streams")
        #expect(count == 1 || count == nil)
      }
      await stream.close()
      try await client.waitForEnd()
    }
  }

  @Test(arguments: [nil, "h2", "http/1.1"])
  func aSilentClientDelaysShutdownNoLongerThanAllowed(_ name: String?) async throws {
    var settings = settings()
    settings.drain = .milliseconds(300)
    let client = try await RunningServer.with(settings, over: .http2) { server in
      // It answers nothing: neither the handshake without a protocol, nor what the server asks.
      guard let name else { return try await RawClient.connect(port: server.port) }
      let client = try await connect(server, name)
      if name == "h2" {
        // The settings of the server: the handshake is complete.
        _ = try await client.read(until: "\u{0}")
      } else {
        try await client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await client.read(until: "}")
      }
      return client
    }
    await client.close()
  }

  @Test(arguments: ["h2", "http/1.1"])
  func aClientThatEndsItsSideIsForgotten(_ name: String) async throws {
    try await RunningServer.with(settings(), over: .http2) { server in
      if name == "h2" {
        let client = try await server.connectHTTP2()
        _ = try await client.get("/topics/a/events").read(until: "retry:")
        #expect(try await server.metric("streams") == 1)
        await client.close()
      } else {
        let client = try await connect(server, name)
        try await client.send("GET /topics/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await client.read(until: "retry:")
        #expect(try await server.metric("streams") == 1)
        await client.finish()
      }
      try await server.wait(until: "streams", is: 0)
    }
  }

  @Test func anAbsoluteTargetHasTheSchemeOfTheConnection() async throws {
    try await RunningServer.with(settings(), over: .http1WithTLS) { server in
      for (scheme, status) in [("https", 200), ("http", 421)] {
        let client = try await connect(server, "http/1.1")
        try await client.send(
          "GET \(scheme)://localhost/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        #expect(try await client.readAll().hasPrefix("HTTP/1.1 \(status) "))
      }
    }
  }

  @Test func requestsThatFollowEachOther() async throws {
    try await RunningServer.with(settings(), over: .http1WithTLS) { server in
      let client = try await connect(server, "http/1.1")
      let request = "POST /topics/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
      try await client.send(String(repeating: request, count: 1000))
      try await client.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      #expect(try await client.readAll().ranges(of: "HTTP/1.1 200 OK").count == 1001)
    }
  }
}
