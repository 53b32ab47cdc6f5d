import Foundation
import Multicast

/// The file for the figures and verdicts. It is opened before the first trial.
struct ReportFile {
  private let path: String
  private let handle: FileHandle

  /// Opens `path`, and empties it.
  init(_ path: String) throws(OptionError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw OptionError(message: "cannot write '\(path)': \(String(cString: strerror(errno)))")
    }
    self.path = path
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Writes the report as JSON.
  func write(_ report: Report) throws(OptionError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      try handle.write(contentsOf: encoder.encode(report) + Data("\n".utf8))
    } catch {
      throw OptionError(message: "cannot write '\(path)': \(error)")
    }
  }
}

extension Report: Encodable {
  private enum Key: CodingKey {
    case held, seed, threads, delegates, mix, secondsAsked, roundsAsked, seconds, operations, trials
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(held, forKey: .held)
    try container.encode(options.seed, forKey: .seed)
    try container.encode(options.threads, forKey: .threads)
    try container.encode(options.delegates, forKey: .delegates)
    try container.encode(options.mix.description, forKey: .mix)
    if let rounds = options.rounds {
      try container.encode(rounds, forKey: .roundsAsked)
    } else {
      try container.encode(options.seconds, forKey: .secondsAsked)
    }
    try container.encode(seconds, forKey: .seconds)
    try container.encode(outcomes.reduce(0) { $0 + $1.operations }, forKey: .operations)
    try container.encode(outcomes, forKey: .trials)
  }
}

extension Outcome: Encodable {
  private enum Key: CodingKey {
    case scenario, strategy, held, rounds, operations, seconds, brokenPromises, command
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(scenario, forKey: .scenario)
    try container.encode(storage.rawValue, forKey: .strategy)
    try container.encode(held, forKey: .held)
    try container.encode(rounds, forKey: .rounds)
    try container.encode(operations, forKey: .operations)
    try container.encode(seconds, forKey: .seconds)
    try container.encode(brokenPromises, forKey: .brokenPromises)
    try container.encode(command, forKey: .command)
  }
}
