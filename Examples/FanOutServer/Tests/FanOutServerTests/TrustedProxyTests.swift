import FanOutTLS
import Foundation
import NIOCore
import Testing

@testable import FanOutCore

/// The addresses of clients behind proxies.
@Suite(.timeLimit(.minutes(5))) struct TrustedProxyTests {
  private func address(_ text: String) throws -> SocketAddress {
    text == "unix:"
      ? try SocketAddress(unixDomainSocketPath: "/tmp/x")
      : try SocketAddress(ipAddress: text, port: 1)
  }

  @Test(arguments: [
    ("10.0.0.0/8", ["10.255.1.2", "::ffff:10.1.1.1"], ["11.0.0.1", "::10.0.0.1", "unix:"]),
    ("10.1.2.3/9", ["10.127.0.1"], ["10.128.0.1"]), ("10.0.0.1", ["10.0.0.1"], ["10.0.0.0"]),
    ("0.0.0.0/0", ["1.2.3.4"], ["::1"]), ("::/0", ["1.2.3.4", "::1", "fd00::1"], ["unix:"]),
    ("fd00::/8", ["fd00::1", "fdff:1::"], ["fe00::1", "fc00::1"]),
    ("2001:db8::/65", ["2001:db8::7fff:1:1:1"], ["2001:db8::8000:1:1:1"]),
    ("::1/128", ["::1"], ["::2", "127.0.0.1"]), ("unix:", ["unix:"], ["127.0.0.1"]),
    ("::ffff:10.0.0.0/104", ["10.1.1.1"], ["11.1.1.1"]),
  ])
  func aNetworkHasItsAddresses(_ network: String, _ inside: [String], _ outside: [String]) throws {
    let proxies = try TrustedProxies([network])
    for text in inside { #expect(proxies.contains(try address(text)), "\(text)") }
    for text in outside { #expect(!proxies.contains(try address(text)), "\(text)") }
    #expect(!proxies.contains(nil))
    #expect(!TrustedProxies().contains(try address(inside[0])))
  }

  @Test(arguments: [
    "", "x", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "::1/129",
    "[::1]", "10.0.0.1:80", "unix", "localhost", " 10.0.0.1",
  ])
  func anotherTextIsNoNetwork(_ text: String) {
    #expect { try TrustedProxies(["::1", text]) } throws: {
      "\($0)".hasPrefix("'\(text)' is not an address, a network")
    }
  }

  @Test(arguments: [
    ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
    // Not from others.
    ("203.0.113.1", ["203.0.113.7"], "203.0.113.1"), ("::1", ["203.0.113.7"], "::1"),
    ("10.0.0.1", [], "10.0.0.1"), ("10.0.0.1", [" ,"], "10.0.0.1"),
    // What a client has written itself.
    ("10.0.0.1", ["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
    ("10.0.0.1", ["1.1.1.1", "2.2.2.2,203.0.113.7\t, 10.0.0.2", "10.0.0.3"], "203.0.113.7"),
    ("10.0.0.1", ["10.0.0.3,10.0.0.2"], "10.0.0.3"),
    ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"), ("10.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
    ("10.0.0.1", ["[2001:DB8::1]:443"], "2001:db8::1"),
    ("10.0.0.1", ["203.0.113.7:4711"], "203.0.113.7"),
    ("::ffff:10.0.0.1", ["203.0.113.7,::ffff:10.0.0.2"], "203.0.113.7"),
    ("unix:", ["203.0.113.7"], "203.0.113.7"),
    // A client may have written what is before something that is no address.
    ("10.0.0.1", ["garbage,203.0.113.7"], "203.0.113.7"),
    ("10.0.0.1", ["203.0.113.7,unknown,10.0.0.2"], "10.0.0.2"),
    ("10.0.0.1", ["203.0.113.7, unknown"], "10.0.0.1"),
  ])
  func theLastAddressThatIsNoProxyIsTheClient(
    _ peer: String, _ fields: [String], _ client: String
  ) throws {
    let proxies = try TrustedProxies(["10.0.0.0/8", "unix:"])
    #expect(proxies.client(of: try address(peer), fields)?.ipAddress == client)
  }

  @Test(arguments: [
    "[203.0.113.7]", "[::1", "::1]", "[::1]x", "[::1]:", "[::1]:x", "203.0.113.7:", "1.2.3:4",
    "203.0.113.7:1:2", ":1", "[]", "::1%lo", "\"::1\"", "1.2.3.4 5",
  ])
  func anotherTextIsNoAddress(_ text: String) throws {
    let proxies = try TrustedProxies(["10.0.0.1"])
    #expect(proxies.client(of: try address("10.0.0.1"), [text])?.ipAddress == "10.0.0.1")
  }

  // MARK: - A server

  /// Asks for a stream as a proxy does.
  private func open(_ server: RunningServer, _ forwarded: String) async throws -> (Int, RawClient) {
    let client = try await RawClient.connect(port: server.port)
    try await client.send(
      "GET /topics/a/events HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(forwarded)\r\n\r\n")
    let answer = try await client.read(until: "\n\n")
    return (try #require(Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3))), client)
  }

  @Test func theStreamsOfAnAddressAreLimited() async throws {
    var settings = Settings()
    settings.maxStreamsPerAddress = 2
    settings.maxConnectionsPerAddress = 1
    settings.trustedProxies = try TrustedProxies(["127.0.0.1"])
    try await RunningServer.with(settings) { (server) async throws -> Void in
      var streams: [RawClient] = []
      let addresses = [
        "203.0.113.7", "1.1.1.1, 203.0.113.7", "203.0.113.8", "2001:db8::1", "2001:db8::2",
      ]
      for forwarded in addresses {
        let (status, client) = try await open(server, forwarded)
        #expect(status == 200)
        streams.append(client)
      }
      for forwarded in ["203.0.113.8,203.0.113.7", "2001:db8::3"] {
        let answer = try await server.request(
          "GET", "/topics/a/events", [("X-Forwarded-For", forwarded)])
        #expect(answer.status == 429)
        #expect(answer.body.contains("this address has too many streams"))
        #expect(answer["retry-after"] == "1")
      }
      // A stream that ends gives its place back.
      await streams.removeFirst().close()
      try await server.wait(until: "streams", is: 4)
      let (status, client) = try await open(server, "203.0.113.7")
      #expect(status == 200)
      for client in streams + [client] { await client.close() }
    }
  }

  @Test func theHeaderOfOthersDoesNotCount() async throws {
    var settings = Settings()
    settings.maxStreamsPerAddress = 1
    settings.trustedProxies = try TrustedProxies(["10.0.0.1"])
    try await RunningServer.with(settings) { (server) async throws -> Void in
      let (status, client) = try await open(server, "203.0.113.7")
      #expect(status == 200)
      let answer = try await server.request(
        "GET", "/topics/a/events", [("X-Forwarded-For", "203.0.113.8")])
      #expect(answer.status == 429)
      await client.close()
    }
  }

  @Test(arguments: ["127.0.0.1,::1", "::1"], [false, true])
  func theAccessLogHasTheAddressOfTheClient(_ proxies: String, _ isHTTP2: Bool) async throws {
    let folder = try TemporaryFolder()
    let options =
      ["--port", "0", "--access-log", "combined", "--log-level", "info"]
      + (isHTTP2 ? try TestCertificate.first.write(into: folder) : [])
    let server = try ServerProcess(options, environment: ["FANOUT_TRUSTED_PROXIES": proxies])
    let port = try server.port()
    if isHTTP2 {
      let client = try await HTTP2Client.connect(port: port, .first)
      let head = HTTP2Client.head("GET", "/nothing") + [("x-forwarded-for", "203.0.113.7")]
      _ = try await client.request(head).readAll()
      await client.close()
    } else {
      let client = try await RawClient.connect(port: port)
      try await client.send(
        "GET /nothing HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n")
      await client.finish()
      _ = try await client.readAll()
    }
    server.terminate()
    let output = try server.wait()
    let address = proxies.contains("127") ? "203.0.113.7" : "127.0.0.1"
    #expect(output.standardOutput.hasPrefix("\(address) - - ["), "\(output.standardOutput)")
    #expect(output.errors.contains("address=\(address)"), "\(output.errors)")
  }

  @Test func aWrongProxyIsOneLine() throws {
    let server = try ServerProcess(["--trusted-proxies", "10.0.0.1,example.org"])
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    #expect(
      output.errors
        == "fan-out-server: --trusted-proxies: 'example.org' is not an address, a network such as "
        + "10.0.0.0/8, or 'unix:'\n")
  }
}
