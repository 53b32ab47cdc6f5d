#if os(Linux)
  import ChildProcess
  import Foundation
  import Testing

  /// Two connected network namespaces: one for a server, one for clients.
  struct Cable: Sendable {
    private static let address = "198.18.0.1:8080"

    /// Whether this process may create namespaces, and the required programs exist.
    static let isPossible: Bool = {
      guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else {
        return false
      }
      guard let cable = try? Cable() else { return false }
      cable.remove()
      return true
    }()

    private let server = "fan-out-server-\(UInt32.random(in: 0 ... .max))"
    private let client = "fan-out-client-\(UInt32.random(in: 0 ... .max))"

    private let url: String

    /// - Parameter isSecure: whether the server has TLS; then the client uses HTTP/2.
    init(isSecure: Bool = false) throws {
      url = "\(isSecure ? "https" : "http")://\(Self.address)"
      do {
        try run("netns", "add", server)
        try run("netns", "add", client)
        try run(
          "-n", server, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns",
          client)
        try run("-n", server, "address", "add", "198.18.0.1/30", "dev", "cable")
        try run("-n", client, "address", "add", "198.18.0.2/30", "dev", "cable")
        for side in [server, client] {
          try run("-n", side, "link", "set", "lo", "up")
          try run("-n", side, "link", "set", "cable", "up")
        }
      } catch {
        remove()
        throw error
      }
    }

    func remove() {
      for side in [server, client] { _ = try? run("netns", "delete", side) }
    }

    /// Disconnects the client's side: no packets in either direction from now on.
    func pull() throws { try run("-n", client, "link", "set", "cable", "down") }

    func startServer(_ arguments: [String]) throws -> ChildProcess {
      let program = ChildProcess.built("fan-out-server")
      return try start(["netns", "exec", server, program] + arguments).process
    }

    func startClient(_ path: String) throws -> (process: ChildProcess, out: Pipe) {
      try start(["netns", "exec", client, "curl", "-skN", url + path])
    }

    /// Sends a request from the server's side. Waits until the server listens.
    func request(_ path: String, _ options: String...) throws -> String {
      try run(
        ["netns", "exec", server, "curl", "-sk", "--retry", "20", "--retry-connrefused"] + options
          + [url + path])
    }

    @discardableResult
    private func run(_ arguments: String...) throws -> String { try run(arguments) }

    private func run(_ arguments: [String]) throws -> String {
      let (process, out) = try start(arguments)
      let text = String(
        decoding: try out.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      try #require(process.wait() == 0, "ip \(arguments.joined(separator: " "))")
      return text
    }

    private func start(_ arguments: [String]) throws -> (process: ChildProcess, out: Pipe) {
      let out = Pipe()
      let program = try #require(ChildProcess.path(of: "ip"))
      let process = try ChildProcess(program, arguments, output: out.fileHandleForWriting)
      // The pipe ends with the process.
      try out.fileHandleForWriting.close()
      return (process, out)
    }
  }
#endif
