import Foundation
import Testing

/// A run of the built program.
struct DemoProcess {
  /// The exit status, or `nil` if a signal ended the program.
  let status: Int32?
  let output: String
  let errors: String

  var errorLines: [Substring] { errors.split(separator: "\n") }
  var outputLines: [Substring] { output.split(separator: "\n") }
}

extension DemoProcess {
  /// Runs the program on this standard input, and waits for its end.
  static func run(_ arguments: [String], input: String = "") throws -> DemoProcess {
    let folder = try TemporaryFolder()
    try folder.write(input, to: "input")
    return try run(arguments, standardInput: folder.path("input"))
  }

  /// Runs the program on a file.
  ///
  /// - Parameters:
  ///   - arguments: the command line.
  ///   - standardInput: the path of the file.
  ///   - standardOutput: an open file that is not to be kept; if `nil`, the output is kept.
  static func run(
    _ arguments: [String], standardInput: String, standardOutput: Int32? = nil
  ) throws -> DemoProcess {
    try spawn([executable] + arguments, standardInput, standardOutput)
  }

  /// Runs a command of the shell, in which `$0` is the program.
  static func run(shell command: String) throws -> DemoProcess {
    try spawn(["/bin/sh", "-c", command, executable], "/dev/null", nil)
  }

  /// The program, which is built beside the tests.
  private static var executable: String {
    #if canImport(Darwin)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
    #else
      let tests = Bundle.main.executableURL!.resolvingSymlinksInPath()
    #endif
    return tests.deletingLastPathComponent().appendingPathComponent("multicast-demo").path
  }

  // Not `Process` of Foundation: on Linux it leaks, and the tests are run with a leak checker.
  private static func spawn(
    _ command: [String], _ standardInput: String, _ standardOutput: Int32?
  ) throws -> DemoProcess {
    let folder = try TemporaryFolder()
    // Files and not pipes: a file is never full.
    let (output, errors) = (folder.path("output"), folder.path("errors"))
    let create = O_WRONLY | O_CREAT

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, standardInput, O_RDONLY, 0)
    if let standardOutput {
      posix_spawn_file_actions_adddup2(&actions, standardOutput, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, create, 0o600)
    }
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, create, 0o600)

    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    try #require(posix_spawn(&process, command[0], &actions, nil, &arguments, environ) == 0)
    return DemoProcess(
      status: try wait(for: process),
      output: String(decoding: (try? folder.read("output")) ?? [], as: UTF8.self),
      errors: String(decoding: try folder.read("errors"), as: UTF8.self))
  }

  /// Waits for the end of a process, and ends it after five minutes.
  ///
  /// - Returns: its exit status, or `nil` if a signal has ended it.
  private static func wait(for process: pid_t) throws -> Int32? {
    let watchdog = DispatchWorkItem { kill(process, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(300), execute: watchdog)
    // No other process gets its number until it is reaped below, and the watchdog is cancelled
    // before.
    var information = siginfo_t()
    try #require(waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == 0)
    watchdog.cancel()
    var status: Int32 = 0
    try #require(waitpid(process, &status, 0) == process)
    return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
  }
}
