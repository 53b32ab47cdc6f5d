#if NATS
  import Foundation
  import Testing

  /// A process that a test starts, and ends.
  struct Child: Sendable {
    private let process: Process

    /// - Parameter output: where to write what it says.
    init(
      _ program: String, _ arguments: [String], output: FileHandle = .nullDevice
    ) throws {
      process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = arguments
      process.standardOutput = output
      process.standardError = output
      try process.run()
    }

    /// Gives it no chance to put anything in order.
    func kill() {
      send(SIGKILL)
      process.waitUntilExit()
    }

    func terminate() { send(SIGTERM) }

    /// Waits until it has ended.
    func wait() { process.waitUntilExit() }

    /// Stops it, and waits until it stands.
    func pause() {
      send(SIGSTOP)
      var information = siginfo_t()
      let process = id_t(process.processIdentifier)
      while waitid(P_PID, process, &information, WSTOPPED | WNOWAIT) != 0, errno == EINTR {}
    }

    func resume() { send(SIGCONT) }

    private func send(_ signal: Int32) {
      Foundation.kill(process.processIdentifier, signal)
    }

    /// Of a program that is installed.
    static func path(of name: String) throws -> String {
      let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      let paths = (folders + ["/usr/sbin", "/usr/local/bin"]).map { "\($0)/\(name)" }
      return try #require(
        paths.first { FileManager.default.isExecutableFile(atPath: $0) },
        "\(name) is not installed")
    }

    /// Of a program of this package.
    static func built(_ name: String) -> String {
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
        .path()
    }
  }

  /// A port that nobody listens to, though the next one to ask may get the same one.
  func freePort() throws -> Int {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(file >= 0)
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // SAFETY: both calls take a `sockaddr` of this length, and the pointer is valid during the call.
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(file, pointer, length) | getsockname(file, pointer, &length)
      }
    }
    try #require(status == 0)
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Waits until `condition` holds. The time limit of the suite ends it.
  func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }
#endif
