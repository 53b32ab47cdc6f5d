import Foundation
import Testing

/// Options from the command line, the environment, and a file.
@Suite(.timeLimit(.minutes(5))) struct ConfigurationTests {
  /// A configuration file.
  private struct File {
    let path: String

    init(_ text: String) throws {
      path = FileManager.default.temporaryDirectory.appending(path: "config-\(UUID().uuidString)")
        .path()
      try Data(text.utf8).write(to: URL(filePath: path))
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
  }

  /// The reconnection time that a stream of the server begins with.
  private func retry(_ arguments: [String], _ environment: [String: String]) async throws -> String
  {
    let server = try ServerProcess(["--port", "0"] + arguments, environment: environment)
    let client = try await RawClient.connect(port: try server.port())
    try await client.send("GET /topics/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let answer = try await client.read(until: "\n\n")
    await client.close()
    server.terminate()
    let output = try server.wait()
    #expect(output.errors.isEmpty, "\(output.errors)")
    return String(answer[(answer.range(of: "retry: ")?.upperBound ?? answer.endIndex)...].prefix(4))
  }

  @Test func theCommandLineCountsBeforeTheEnvironmentBeforeTheFile() async throws {
    let file = try File(#"{"retry": 1111, "buffer": 7, "heartbeat": 1.5, "allow-anonymous": true}"#)
    defer { file.remove() }
    let environment = ["FANOUT_RETRY": "2222", "FANOUT_BUFFER": ""]
    let option = ["--config", file.path]
    #expect(try await retry([], [:]) == "2000")
    #expect(try await retry(option, [:]) == "1111")
    #expect(try await retry([], ["FANOUT_CONFIG": file.path]) == "1111")
    #expect(try await retry(option, environment) == "2222")
    #expect(try await retry(option + ["--retry", "3333"], environment) == "3333")
    #expect(try await retry(["--retry=3333", "--config=\(file.path)"], environment) == "3333")
  }

  /// A list is not the sum of the sources.
  @Test func aListIsFromOneSource() async throws {
    let file = try File(#"{"allow-origin": ["https://file.example", "https://b.example"]}"#)
    defer { file.remove() }
    let variable = ["FANOUT_ALLOW_ORIGIN": "https://env.example,https://b.example"]
    let argument = ["--allow-origin", "https://line.example"]
    for (arguments, environment, allowed) in [
      ([], [:], ["file", "b"]), ([], variable, ["env", "b"]), (argument, variable, ["line"]),
    ] {
      let server = try ServerProcess(
        ["--port", "0", "--config", file.path] + arguments, environment: environment)
      let port = try server.port()
      for name in ["file", "env", "line", "b"] {
        let client = try await RawClient.connect(port: port)
        try await client.send(
          "GET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: https://\(name).example\r\n"
            + "Connection: close\r\n\r\n")
        let status = try await client.readAll().dropFirst("HTTP/1.1 ".count).prefix(3)
        #expect(status == (allowed.contains(name) ? "200" : "403"), "\(name)")
      }
      server.terminate()
      _ = try server.wait()
    }
  }

  /// A browser writes the origin of a page in one way.
  @Test(arguments: [
    ("HTTPS://Pages.Example", "https://pages.example"),
    ("https://pages.example:443", "https://pages.example"),
    ("http://pages.example:80", "http://pages.example"),
    ("http://pages.example:443", "http://pages.example:443"),
    ("https://[::80]", "https://[::80]"),
  ])
  func anOriginIsThatOfTheBrowser(_ option: String, _ origin: String) async throws {
    let server = try ServerProcess(["--port", "0", "--allow-origin", option])
    let client = try await RawClient.connect(port: try server.port())
    try await client.send(
      "GET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: \(origin)\r\nConnection: close\r\n\r\n")
    #expect(try await client.readAll().hasPrefix("HTTP/1.1 200 "))
    server.terminate()
    #expect(try server.wait().errors.isEmpty)
  }

  @Test(arguments: [
    "https://*.example.org", "https://example.org?x", "https://user@example.org", "https://:443",
    "https://example.org:", "https://example.org:65536", "https://[::1", "https://::1",
  ])
  func anOriginThatNoPageHasIsAnError(_ origin: String) throws {
    let server = try ServerProcess(["--port", "0", "--allow-origin", origin])
    #expect(server.listeningLine().isEmpty)
    server.terminate()
    let errors = try server.wait().errors
    // What may be a password is not shown.
    #expect(errors.hasPrefix("fan-out-server: --allow-origin: 'https:"), "\(errors)")
    #expect(errors.contains("' is not an origin such as "), "\(errors)")
  }

  @Test(arguments: [
    (["--host", "0.0.0.0"], ["FANOUT_ALLOW_ANONYMOUS": "true"], true),
    (["--host", "0.0.0.0"], ["FANOUT_ALLOW_ANONYMOUS": "1"], true),
    (["--host", "0.0.0.0"], ["FANOUT_ALLOW_ANONYMOUS": "false"], false),
    (["--host", "0.0.0.0", "--no-allow-anonymous"], ["FANOUT_ALLOW_ANONYMOUS": "true"], false),
    (["--allow-anonymous"], ["FANOUT_ALLOW_ANONYMOUS": "no", "FANOUT_HOST": "0.0.0.0"], true),
  ])
  func aFlagMayBeTrueOrFalse(
    _ arguments: [String], _ environment: [String: String], _ runs: Bool
  ) throws {
    let server = try ServerProcess(["--port", "0"] + arguments, environment: environment)
    #expect(server.listeningLine().hasPrefix("listening on ") == runs)
    server.terminate()
    #expect(try server.wait().errors.contains("is not a loopback address") == !runs)
  }

  @Test(arguments: [
    (["FANOUT_PORT": "65536"], "", "--port: 65536 is not between 0 and 65535 (from FANOUT_PORT)"),
    (["FANOUT_PORT": "x"], "", "The value 'x' is invalid for '--port <port>' (from FANOUT_PORT)"),
    (
      ["FANOUT_PORT": "8080\n"], "",
      "The value '8080 ' is invalid for '--port <port>' (from FANOUT_PORT)"
    ),
    (
      ["FANOUT_ALLOW_ANONYMOUS": "perhaps"], "",
      "--allow-anonymous: the value is neither true nor false (from FANOUT_ALLOW_ANONYMOUS)"
    ),
    (
      ["FANOUT_STORE": "/nothing"], #"{"relay": "nats://127.0.0.1:1"}"#,
      "--store: the broker of --relay keeps the events: use one of both (from FANOUT_STORE)"
    ),
    (
      ["FANOUT_STORE": "/nothing", "FANOUT_STORE_AGE": "1.5"], "",
      "The value '1.5' is invalid for '--store-age <store-age>' (from FANOUT_STORE_AGE)"
    ),
    (["FANOUT_CONFIG": "/nothing"], "", "--config: cannot read '/nothing' (from FANOUT_CONFIG)"),
    ([:], #"{"port": 65536}"#, "--port: 65536 is not between 0 and 65535 (from FILE)"),
    ([:], #"{"port": true}"#, "The value 'true' is invalid for '--port <port>' (from FILE)"),
    ([:], #"{"prot": 1}"#, "--config: 'FILE' has 'prot', which is not an option"),
    ([:], #"{"config": "x"}"#, "--config: 'FILE' has 'config', which is not an option"),
    ([:], #"{"port": {"a": 1}}"#, "--config: 'FILE' is not a JSON object whose members are "),
    ([:], #"{"port": [1, 2]}"#, "--config: 'FILE' is not a JSON object whose members are "),
    ([:], #"{"allow-anonymous": 1.5}"#, "--allow-anonymous: the value is neither true nor false"),
    ([:], #"{"port": ["0", "0"]}"#, "--port: the option takes one value (from FILE)"),
    ([:], #"{"port": []}"#, "--port: the option takes one value (from FILE)"),
    (
      [:], #"{"allow-anonymous": ["true", "false"]}"#,
      "--allow-anonymous: the option takes one value (from FILE)"
    ),
    ([:], #"{"port": 0, "port": 1}"#, "--config: 'FILE' has an option twice"),
    ([:], "\u{feff}{\"port\": 0, \"port\": 1}", "--config: 'FILE' has an option twice"),
    ([:], #"{"port": 0,}"#, "--config: 'FILE' is not a JSON object whose members are "),
    ([:], "[1]", "--config: 'FILE' is not a JSON object whose members are "),
    ([:], "port = 1", "--config: 'FILE' is not a JSON object whose members are "),
  ])
  func aWrongSourceIsOneLine(
    _ environment: [String: String], _ text: String, _ message: String
  ) throws {
    let file = try File(text)
    defer { file.remove() }
    let server = try ServerProcess(
      ["--drain", "0"] + (text.isEmpty ? [] : ["--config", file.path]), environment: environment)
    #expect(server.listeningLine().isEmpty)
    server.terminate()
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    let expected = "fan-out-server: " + message.replacing("FILE", with: file.path)
    #expect(output.errors.hasPrefix(expected), "\(output.errors)")
    #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
  }

  /// Kubernetes sets such variables.
  @Test func aVariableThatIsNoOptionIsAWarning() throws {
    let portOfSystem = try File(#"{"port": 0}"#)
    defer { portOfSystem.remove() }
    let server = try ServerProcess(
      ["--config", portOfSystem.path],
      environment: [
        "FANOUT_PORT": "tcp://10.0.0.1:8080", "FANOUT_PROT": "1", "FANOUT_SERVICE_HOST": "10.0.0.1",
      ])
    _ = try server.port()
    server.terminate()
    let lines = try server.wait().errors.split(separator: "\n")
    #expect(server.exitStatus == 0)
    let names = ["FANOUT_PORT", "FANOUT_PROT", "FANOUT_SERVICE_HOST"]
    #expect(lines.count == names.count, "\(lines)")
    for (line, name) in zip(lines, names) {
      #expect(line.contains("the environment variable \(name) is not an option"), "\(line)")
    }
  }

  @Test func eachOptionMayBeInTheFile() throws {
    let help = try ServerProcess(["--help"])
    let names = Set(
      try help.wait().standardOutput.matches(of: /(?m)^  --([a-z-]+)/).map { String($0.1) })
    #expect(names.count > 20)
    for name in names.subtracting(["config", "health", "help", "version"]) {
      let value = name == "allow-anonymous" ? "1.5" : "[]"
      let file = try File("{\"\(name)\": \(value)}")
      defer { file.remove() }
      // The error shows that the file has been taken. Only of origins and proxies there may be
      // none.
      let server = try ServerProcess(["--config", file.path, "--port", "65536"])
      let isTaken = !["port", "allow-origin", "trusted-proxies"].contains(name)
      let message = isTaken ? "--\(name): the " : "--port: 65536"
      let errors = try server.wait().errors
      #expect(errors.hasPrefix("fan-out-server: \(message)"), "\(name): \(errors)")
    }
  }

  @Test(arguments: [["--relay", "nats://u:opensesame@h"], ["--relay=nats://opensesame@h"]])
  func aPasswordOnTheCommandLineIsRefused(_ arguments: [String]) throws {
    let server = try ServerProcess(arguments)
    #expect(server.listeningLine().isEmpty)
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    #expect(output.errors.contains("--relay: the process list would show the password"))
    #expect(!output.contains("opensesame"))
  }

  @Test func theVersionIsPrinted() throws {
    let server = try ServerProcess(["--version"], environment: ["FANOUT_PORT": "x"])
    let output = try server.wait()
    #expect(server.exitStatus == 0)
    #expect(output.text.contains(/^fan-out-server \d+\.\d+\.\d+\n$/), "\(output.text)")
  }
}
