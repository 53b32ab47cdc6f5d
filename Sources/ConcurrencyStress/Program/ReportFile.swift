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
  private let identity: FileIdentity?

  /// Opens `path`, and leaves what it contains.
  init(_ path: String) throws(StressOptionError) {
    self.path = path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.error(path) }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    identity = FileIdentity(descriptor)
  }

  /// Whether `path` leads to this file.
  func isSame(as path: String) -> Bool {
    identity.map { $0 == FileIdentity(path: path) } ?? false
  }

  /// Removes an older report.
  func clear() throws(StressOptionError) {
    guard identity == nil || ftruncate(handle.fileDescriptor, 0) == 0 else {
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
    guard identity == nil || lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.error(path) }
    var rest = Array(data)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw Self.error(path)
      }
    }
    guard identity == nil || ftruncate(descriptor, off_t(data.count)) == 0 else {
      throw Self.error(path)
    }
  }
}

/// What a report has beside the options and the variants of its program.
private enum Field: String {
  case held, seed, threads, roundsAsked, secondsAsked, hoursAsked, passes, sessions, interrupted
  case peakMemory, seconds, operations, trials
  case scenario, rounds, brokenPromises, command
}

/// A key of the report: a field, or an option of the program.
private struct Key: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ field: Field) { stringValue = field.rawValue }

  /// The name of an option without its hyphens, unless a field has that name: two values of one key
  /// would replace each other, or end the process.
  init(option name: String) {
    let word = String(name.dropFirst(2))
    stringValue = Field(rawValue: word) == nil ? word : name
  }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension KeyedEncodingContainer<Key> {
  fileprivate mutating func encode(_ value: some Encodable, _ field: Field) throws {
    try encode(value, forKey: Key(field))
  }
}

extension StressReport: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(held, .held)
    try container.encode(options.seed, .seed)
    try container.encode(options.threads, .threads)
    for (name, text) in options.texts {
      let key = Key(option: name)
      if let number = options.values[name] as? Int {
        try container.encode(number, forKey: key)
      } else {
        try container.encode(text, forKey: key)
      }
    }
    if let rounds = options.rounds {
      try container.encode(rounds, .roundsAsked)
    } else {
      try container.encode(options.seconds, .secondsAsked)
    }
    if let passes {
      try container.encode(passes.hours, .hoursAsked)
      try container.encode(passes.completed, .passes)
      try container.encode(passes.sessions, .sessions)
    }
    try container.encode(Interruption.isRequested, .interrupted)
    try container.encode(peakMemory, .peakMemory)
    try container.encode(seconds, .seconds)
    try container.encode(results.reduce(0) { $0 + $1.operations }, .operations)
    var trials = container.nestedUnkeyedContainer(forKey: Key(.trials))
    for result in results {
      try encode(result, to: trials.nestedContainer(keyedBy: Key.self))
    }
  }

  private func encode(
    _ result: TrialResult, to container: KeyedEncodingContainer<Key>
  ) throws {
    var container = container
    try container.encode(result.scenario, .scenario)
    if let variant = result.variant, let option = program.variants?.option {
      try container.encode(variant, forKey: Key(option: option))
    }
    try container.encode(result.held, .held)
    try container.encode(result.rounds, .rounds)
    try container.encode(result.operations, .operations)
    try container.encode(result.seconds, .seconds)
    try container.encode(result.brokenPromises, .brokenPromises)
    try container.encode(result.command, .command)
  }
}
