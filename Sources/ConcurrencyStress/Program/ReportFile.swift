internal import Foundation

/// The file for the figures and verdicts. It is opened before the first trial.
///
/// ## Thread safety
/// One thread uses it.
struct ReportFile: @unchecked Sendable {
  // Sendable: it never changes, and the thread that runs the trials writes alone.
  private let path: String
  private let handle: FileHandle
  /// `nil` for a pipe, a terminal or another device, which cannot be rewritten.
  private let regular: stat?

  /// Opens `path`, and leaves what it contains.
  init(_ path: String) throws(StressOptionError) {
    self.path = path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.error(path) }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    regular = isRegular ? status : nil
  }

  /// Whether `path` leads to this file.
  func isSame(as path: String) -> Bool {
    var other = stat()
    guard let regular, stat(path, &other) == 0 else { return false }
    return other.st_dev == regular.st_dev && other.st_ino == regular.st_ino
  }

  /// Removes an older report.
  func clear() throws(StressOptionError) {
    guard regular == nil || ftruncate(handle.fileDescriptor, 0) == 0 else {
      throw Self.error(path)
    }
  }

  /// What the operating system says of the last call.
  private static func error(_ path: String) -> StressOptionError {
    StressOptionError("cannot write '\(path)': \(String(cString: strerror(errno)))")
  }

  /// Writes the report as JSON, in the place of the one before.
  func write(_ report: StressReport) throws(StressOptionError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let data: Data
    do {
      data = try encoder.encode(report) + Data("\n".utf8)
    } catch {
      throw StressOptionError("cannot write '\(path)': \(error)")
    }
    let descriptor = handle.fileDescriptor
    guard regular == nil || lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.error(path) }
    var rest = Array(data)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw Self.error(path)
      }
    }
    guard regular == nil || ftruncate(descriptor, off_t(data.count)) == 0 else {
      throw Self.error(path)
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
