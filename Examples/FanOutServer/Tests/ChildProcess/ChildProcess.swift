package import Foundation
private import Synchronization

/// A child process of a test. It is killed when nothing refers to it.
///
/// Not a `Process` of Foundation: with Swift 6.3 on Linux, starting one reads past the end of a
/// buffer and may crash the tests (swift-corelibs-foundation #5472).
package final class ChildProcess: Sendable {
  package let identifier: pid_t
  /// The status as `waitpid` gives it; `nil` until it has been taken. After that another process
  /// may have the identifier.
  private let status = Mutex<Int32?>(nil)

  /// Starts `program`, with the default actions for all signals, none of them blocked.
  ///
  /// - Parameters:
  ///   - program: the path of an executable file.
  ///   - environment: variables in addition to those of this process.
  ///   - output: the file for standard output; `nil`: the output is discarded.
  ///   - errors: the file for standard error, likewise.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    output: FileHandle? = nil, errors: FileHandle? = nil
  ) throws {
    let null = try FileHandle(forWritingTo: URL(filePath: "/dev/null"))
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    identifier = try Self.spawn(
      program, [program] + arguments, variables.map { "\($0)=\($1)" },
      output: (output ?? null).fileDescriptor, errors: (errors ?? null).fileDescriptor)
    withExtendedLifetime((null, output, errors)) {}
  }

  deinit { kill() }

  private static func spawn(
    _ program: String, _ arguments: [String], _ environment: [String], output: Int32, errors: Int32
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
      let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    // A pipe or a connection of this process must not stay open in the child.
    #if canImport(Darwin)
      posix_spawn_file_actions_addinherit_np(&actions, STDIN_FILENO)
    #else
      // Some more, because other threads open files. It is no error that a file is not open.
      let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      for file in 3...(files.compactMap { Int32($0) }.max() ?? 3) + 64 {
        posix_spawn_file_actions_addclose(&actions, file)
      }
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let argumentPointers = arguments.map { strdup($0) } + [nil]
    let environmentPointers = environment.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    var identifier = pid_t()
    let error = posix_spawn(
      &identifier, program, &actions, &attributes, argumentPointers, environmentPointers)
    guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
    return identifier
  }
}

// MARK: - Its end

extension ChildProcess {
  package var isRunning: Bool {
    status.withLock { status in
      takeStatus(&status, WNOHANG)
      return status == nil
    }
  }

  /// Waits until the process has ended.
  ///
  /// - Returns: the status of its exit; `nil` if a signal ended it.
  @discardableResult
  package func wait() -> Int32? {
    // Without the lock, and without taking the status, so that signals can be sent meanwhile.
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let status = status.withLock { status in
      takeStatus(&status, 0)
      return status ?? 0
    }
    return status & 0x7f == 0 ? status >> 8 & 0xff : nil
  }

  /// Takes the status if the process has ended.
  private func takeStatus(_ status: inout Int32?, _ options: Int32) {
    guard status == nil else { return }
    var new: Int32 = 0
    while true {
      let result = waitpid(identifier, &new, options)
      if result == identifier { status = new }
      if result >= 0 || errno != EINTR { return }
    }
  }
}

// MARK: - Signals

extension ChildProcess {
  /// Sends `signal` if the process has not ended.
  package func send(_ signal: Int32) {
    status.withLock { if $0 == nil { _ = Foundation.kill(identifier, signal) } }
  }

  /// Starts a graceful shutdown.
  package func terminate() { send(SIGTERM) }

  /// Ends the process without a graceful shutdown, and waits until it has ended.
  package func kill() {
    send(SIGKILL)
    wait()
  }

  /// Stops the process, and waits until it is stopped.
  package func pause() {
    send(SIGSTOP)
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WSTOPPED | WNOWAIT) != 0, errno == EINTR {}
  }

  package func resume() { send(SIGCONT) }
}

// MARK: - Programs

extension ChildProcess {
  /// The path of an installed program; `nil` if it is not installed.
  package static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return (folders + ["/usr/sbin", "/usr/local/bin", "/sbin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The path of a program of this package.
  package static func built(_ name: String) -> String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name).path()
  }
}
