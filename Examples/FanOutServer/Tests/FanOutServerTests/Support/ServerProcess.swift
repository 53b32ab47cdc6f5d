import Foundation
import Testing

/// A process of the built server. Keeps its output.
final class ServerProcess {
  private let process = Process()
  private let out = Pipe()
  /// Standard error: a file, so that a full pipe does not block the server.
  private let errors: URL

  /// - Parameters:
  ///   - program: the name of the program.
  ///   - environment: variables in addition to those of this process.
  init(
    _ arguments: [String], program: String = "fan-out-server", environment: [String: String] = [:]
  ) throws {
    errors = FileManager.default.temporaryDirectory.appending(path: "server-\(UUID().uuidString)")
    try Data().write(to: errors)
    let tests = URL(filePath: CommandLine.arguments[0])
    process.executableURL = tests.deletingLastPathComponent().appending(path: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = out
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  deinit {
    if process.isRunning { process.terminate() }
    try? FileManager.default.removeItem(at: errors)
  }

  /// Waits for the line with the address.
  func listeningLine() -> String {
    String(decoding: out.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// Waits until the server listens.
  func port() throws -> Int {
    let line = listeningLine()
    let digits = line.split(separator: ":").last?.prefix { $0.isNumber }
    return try #require(digits.flatMap { Int($0) }, "\(line)")
  }

  func terminate() { process.terminate() }

  /// The memory of the process that is in use, in bytes.
  func residentBytes() throws -> Int {
    let file = "/proc/\(process.processIdentifier)/statm"
    let status = try String(contentsOfFile: file, encoding: .utf8)
    let pages = try #require(status.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  /// The names of the threads, on Linux.
  func threadNames() throws -> [String] {
    let tasks = "/proc/\(process.processIdentifier)/task"
    return try FileManager.default.contentsOfDirectory(atPath: tasks).map {
      try String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
    }
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Polls standard error until it contains `text`. The time limit of the suite ends it.
  func waitForErrors(containing text: String) throws {
    while try !errorsSoFar().contains(text) { try Task.checkCancellation() }
  }

  /// Standard error.
  func errorsSoFar() throws -> String {
    String(decoding: try Data(contentsOf: errors), as: UTF8.self)
  }

  /// Waits until the process has ended.
  ///
  /// - Returns: its output, without what has been read before.
  func wait() throws -> ServerOutput {
    let text = try out.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return ServerOutput(
      String(decoding: text, as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }

  /// The status and the reason of the exit. Call them after ``wait()``.
  var status: Int32 { process.terminationStatus }
  var reason: Process.TerminationReason { process.terminationReason }
}

/// The output of a server.
struct ServerOutput {
  let standardOutput: String
  let errors: String

  init(_ standardOutput: String, errors: String = "") {
    self.standardOutput = standardOutput
    self.errors = errors
  }

  var text: String { standardOutput + errors }

  var isEmpty: Bool { text.isEmpty }

  /// Whether the output contains `secret`, as text or as bytes.
  func contains(_ secret: String) -> Bool {
    let bytes = Array(secret.utf8)
    let forms = [
      secret, bytes.map { "\($0)" }.joined(separator: ", "),
      bytes.map { String($0, radix: 16) }.joined(),
      Data(bytes).base64EncodedString().trimmingCharacters(in: ["="]),
    ]
    return forms.contains { text.localizedCaseInsensitiveContains($0) }
  }
}

/// Files with tokens, and the options that name them.
struct TokenFiles {
  private let folder: URL

  init(publish: [String], subscribe: [String]) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write(publish: publish, subscribe: subscribe)
  }

  /// - Parameter subscribe: `nil`: removes the file.
  func write(publish: [String], subscribe: [String]?) throws {
    for (name, tokens) in [("publish", publish), ("subscribe", subscribe)] {
      let file = folder.appending(path: name)
      if let tokens {
        try Data(tokens.joined(separator: "\n").utf8).write(to: file, options: .atomic)
      } else {
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  var options: [String] {
    ["publish", "subscribe"].flatMap { name in
      ["--\(name)-token-file", folder.appending(path: name).path()]
    }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
