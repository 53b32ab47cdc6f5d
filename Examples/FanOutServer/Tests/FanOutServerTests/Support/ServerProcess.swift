import ChildProcess
import Foundation
import Testing

/// A process of the built server. Keeps its output.
final class ServerProcess {
  private let process: ChildProcess
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
    var environment = environment
    // On a busy machine the next step of a test may come later than after the usual minute. A
    // variable would count more than a file.
    if !arguments.contains(where: { $0.hasPrefix("--config") }), environment["FANOUT_CONFIG"] == nil
    {
      environment.merge(["FANOUT_IDLE": "3600"]) { old, _ in old }
    }
    process = try ChildProcess(
      ChildProcess.built(program), arguments, environment: environment,
      output: out.fileHandleForWriting, errors: FileHandle(forWritingTo: errors))
    // The pipe ends with the process.
    try out.fileHandleForWriting.close()
  }

  deinit { try? FileManager.default.removeItem(at: errors) }

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
    let file = "/proc/\(process.identifier)/statm"
    let status = try String(contentsOfFile: file, encoding: .utf8)
    let pages = try #require(status.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  /// The names of the threads, on Linux.
  func threadNames() throws -> [String] {
    let tasks = "/proc/\(process.identifier)/task"
    // A thread may have ended meanwhile.
    return try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap {
      try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
    }
  }

  func send(_ signal: Int32) { process.send(signal) }

  #if os(Linux)
    /// Ends the socket on which the server listens, as `ss -K` does.
    ///
    /// - Returns: whether the system allows that.
    func endListening() throws -> Bool {
      // Swift does not import it, because the number of its arguments varies.
      typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int
      let call = unsafeBitCast(dlsym(nil, "syscall"), to: SystemCall.self)
      let (openProcess, takeFile) = (434, 438)  // `pidfd_open` and `pidfd_getfd` on all processors.
      let handle = call(openProcess, Int(process.identifier), 0, 0)
      guard handle >= 0 else { return false }
      defer { close(Int32(handle)) }
      let names = try FileManager.default.contentsOfDirectory(
        atPath: "/proc/\(process.identifier)/fd")
      return names.compactMap { Int($0) }.contains { number in
        let file = Int32(call(takeFile, handle, number, 0))
        guard file >= 0 else { return false }
        defer { close(file) }
        var isListening = Int32(0)
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
        return isListening != 0 && shutdown(file, Int32(SHUT_RDWR)) == 0
      }
    }
  #endif

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
    process.wait()
    return ServerOutput(
      String(decoding: text, as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }

  /// Waits until the process has ended.
  ///
  /// - Returns: the status of its exit; `nil` if a signal ended it.
  var exitStatus: Int32? { process.wait() }
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
