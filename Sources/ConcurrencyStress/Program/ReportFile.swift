internal import Foundation

/// The file for the figures and verdicts. It is opened before the first trial.
///
/// ## Thread safety
/// One thread uses it.
struct ReportFile: @unchecked Sendable {
  // Sendable: it never changes, and the thread that runs the trials writes alone.
  private let path: String
  private let handle: FileHandle

  /// Opens `path`, and empties it.
  init(_ path: String) throws(StressOptionError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw StressOptionError("cannot write '\(path)': \(String(cString: strerror(errno)))")
    }
    self.path = path
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Writes the report as JSON, in the place of the one before.
  func write(_ report: StressReport) throws(StressOptionError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      let data = try encoder.encode(report) + Data("\n".utf8)
      try handle.seek(toOffset: 0)
      try handle.write(contentsOf: data)
      try handle.truncate(atOffset: UInt64(data.count))
    } catch {
      throw StressOptionError("cannot write '\(path)': \(error)")
    }
  }
}

/// A key of the report: the names of a program's options and variants are keys, too.
private struct Key: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringLiteral value: String) { stringValue = value }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension StressReport: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(held, forKey: "held")
    try container.encode(options.seed, forKey: "seed")
    try container.encode(options.threads, forKey: "threads")
    for (name, text) in options.texts {
      let key = Key(stringValue: String(name.dropFirst(2)))
      if let number = options.values[name] as? Int {
        try container.encode(number, forKey: key)
      } else {
        try container.encode(text, forKey: key)
      }
    }
    if let rounds = options.rounds {
      try container.encode(rounds, forKey: "roundsAsked")
    } else {
      try container.encode(options.seconds, forKey: "secondsAsked")
    }
    if let passes {
      try container.encode(passes.hours, forKey: "hoursAsked")
      try container.encode(passes.completed, forKey: "passes")
      try container.encode(passes.sessions, forKey: "sessions")
    }
    try container.encode(Interruption.isRequested, forKey: "interrupted")
    try container.encode(peakMemory, forKey: "peakMemory")
    try container.encode(seconds, forKey: "seconds")
    try container.encode(results.reduce(0) { $0 + $1.operations }, forKey: "operations")
    var trials = container.nestedUnkeyedContainer(forKey: "trials")
    for result in results {
      try encode(result, to: trials.nestedContainer(keyedBy: Key.self))
    }
  }

  private func encode(
    _ result: TrialResult, to container: KeyedEncodingContainer<Key>
  ) throws {
    var container = container
    try container.encode(result.scenario, forKey: "scenario")
    if let variant = result.variant, let option = program.variants?.option {
      try container.encode(variant, forKey: Key(stringValue: String(option.dropFirst(2))))
    }
    try container.encode(result.held, forKey: "held")
    try container.encode(result.rounds, forKey: "rounds")
    try container.encode(result.operations, forKey: "operations")
    try container.encode(result.seconds, forKey: "seconds")
    try container.encode(result.brokenPromises, forKey: "brokenPromises")
    try container.encode(result.command, forKey: "command")
  }
}
