import Foundation
import Testing

/// The server as a process, which is built beside the tests. Everything that it writes is kept.
final class ServerProcess {
  private let process = Process()
  private let out = Pipe()
  /// A file, so that a server that writes much does not wait for the test.
  private let errors: URL

  init(_ arguments: [String]) throws {
    errors = FileManager.default.temporaryDirectory.appending(path: "server-\(UUID().uuidString)")
    try Data().write(to: errors)
    let tests = URL(filePath: CommandLine.arguments[0])
    process.executableURL = tests.deletingLastPathComponent().appending(path: "fan-out-server")
    process.arguments = arguments
    process.standardOutput = out
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  deinit {
    if process.isRunning { process.terminate() }
    try? FileManager.default.removeItem(at: errors)
  }

  /// Waits until it listens.
  func port() throws -> Int {
    let line = String(decoding: out.fileHandleForReading.availableData, as: UTF8.self)
    let digits = line.split(separator: ":").last?.prefix { $0.isNumber }
    return try #require(digits.flatMap { Int($0) }, "\(line)")
  }

  func terminate() { process.terminate() }

  /// Waits until it has ended.
  ///
  /// - Returns: what it has written, but the line that said where it listens.
  func wait() throws -> ServerOutput {
    let text = try out.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return ServerOutput(String(decoding: text + (try Data(contentsOf: errors)), as: UTF8.self))
  }

  /// Once it has ended.
  var status: Int32 { process.terminationStatus }
}

/// What a server has written.
struct ServerOutput {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  var isEmpty: Bool { text.isEmpty }

  /// Whether `secret` is in it, as text or as bytes.
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
    for (name, tokens) in [("publish", publish), ("subscribe", subscribe)] {
      let text = tokens.joined(separator: "\n")
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
  }

  var options: [String] {
    ["publish", "subscribe"].flatMap { name in
      ["--\(name)-token-file", folder.appending(path: name).path()]
    }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
