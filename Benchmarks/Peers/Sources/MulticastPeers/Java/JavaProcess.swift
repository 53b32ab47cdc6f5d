internal import BenchmarkHarness
internal import Foundation

/// Java's `CopyOnWriteArrayList`, in a process of its own that answers requests for measurements.
final class JavaProcess: @unchecked Sendable {
  // Sendable: the thread that measures is the only one that asks.

  static let name = "Java's CopyOnWriteArrayList"

  /// The process, which is started once; `nil` where there is no JDK.
  static let shared = JavaProcess()

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var received: [UInt8] = []

  private init?() {
    guard let source = Bundle.module.url(forResource: "CopyOnWriteList", withExtension: "java")
    else { return nil }
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["java", source.path()]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // Without a compiler, or without Java, it ends, and there is no answer. A write to it is then
    // an error, and not the end of this process.
    signal(SIGPIPE, SIG_IGN)
    guard (try? process.run()) != nil, (try? ask("ready", answers: 0)) != nil else { return nil }
  }

  deinit {
    // A process that could not be started cannot be terminated either.
    if process.isRunning { process.terminate() }
  }

  /// Sends a request of one line, and waits for its answer.
  ///
  /// - Parameter answers: the number of numbers in the answer.
  func ask(_ request: String, answers: Int) throws -> [Int] {
    do {
      try input.fileHandleForWriting.write(contentsOf: Data((request + "\n").utf8))
    } catch {
      throw WrongResult("\(Self.name) has ended before '\(request)': \(error)")
    }
    guard let line = nextLine() else {
      throw WrongResult("\(Self.name) has ended at '\(request)'")
    }
    let words = line.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int($0) }
    guard words.first == "ok", numbers.count == answers, words.count == answers + 1 else {
      throw WrongResult("\(Self.name) answers '\(line)' to '\(request)'")
    }
    return numbers
  }

  /// `nil` when the process has ended.
  private func nextLine() -> String? {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeFirst(end + 1) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { return nil }
      received += data
    }
  }
}
