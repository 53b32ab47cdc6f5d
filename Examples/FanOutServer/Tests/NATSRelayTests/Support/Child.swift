#if NATS
  import Foundation
  import Testing

  /// A child process of a test.
  struct Child: Sendable {
    private let process: Process

    /// - Parameters:
    ///   - output: the file for standard output and standard error.
    ///   - environment: variables in addition to those of this process.
    init(
      _ program: String, _ arguments: [String], output: FileHandle = .nullDevice,
      environment: [String: String] = [:]
    ) throws {
      process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardOutput = output
      process.standardError = output
      try process.run()
    }

    /// Kills the process without a graceful shutdown.
    func kill() {
      send(SIGKILL)
      process.waitUntilExit()
    }

    func terminate() { send(SIGTERM) }

    /// Waits until it has ended.
    func wait() { process.waitUntilExit() }

    /// Stops the process, and waits until it is stopped.
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

    /// The path of an installed program.
    static func path(of name: String) throws -> String {
      let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      let paths = (folders + ["/usr/sbin", "/usr/local/bin"]).map { "\($0)/\(name)" }
      return try #require(
        paths.first { FileManager.default.isExecutableFile(atPath: $0) },
        "\(name) is not installed")
    }

    /// The path of a program of this package.
    static func built(_ name: String) -> String {
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
        .path()
    }
  }

  /// A free port. Another process may take it at any time.
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

  /// Polls until `condition` holds. The time limit of the suite ends it.
  func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }
#endif
