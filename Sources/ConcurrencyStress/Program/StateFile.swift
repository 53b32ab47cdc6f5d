internal import Foundation

/// The progress of a run of hours, in a file: what a later session resumes from.
///
/// A crash or a stuck round ends the process; its message goes to a second file beside the first,
/// which the next session reads.
///
/// ## Thread safety
/// One thread uses it.
final class StateFile: @unchecked Sendable {
  // Sendable: the thread that runs the trials uses it alone, after `init` has returned.

  /// What the file holds.
  struct State: Codable {
    var program: String
    /// What must be the same to resume: the threads, the program's own options, and the scenarios
    /// and variants that were chosen.
    var command: String
    var seed: UInt64
    var seconds = 0.0
    var passes = 0
    /// The trials of the current pass that are done.
    var trials = 0
    var sessions = 0
    var peakMemory = 0
    var results: [TrialResult] = []
    /// The trial that is running.
    var running: Running?

    /// Whether a run can go on from these numbers: each can grow, and none is below zero.
    var isPossible: Bool {
      let counts =
        [passes, trials, sessions, peakMemory] + results.flatMap { [$0.rounds, $0.operations] }
      let times = [seconds] + results.map(\.seconds)
      return counts.allSatisfy { (0...Int.max >> 8).contains($0) }
        && times.allSatisfy { (0...1e9).contains($0) }
    }
  }

  struct Running: Codable {
    var scenario: String
    var variant: String?
    var command: String
  }

  private let path: String
  /// Where links of `path` lead: a new file there replaces the old one, and no link or device.
  private let target: URL
  private(set) var state: State
  /// A file to which a crash writes its message. Its lock keeps other processes from the state.
  let crashLog: Int32

  /// Opens the state in `path`, or begins a new one.
  ///
  /// - Throws: ``StressOptionError`` if the file cannot be read or written, is of another run, or
  ///   another process runs with it.
  init(
    _ path: String, for program: StressProgram, _ options: StressOptions
  ) throws(StressOptionError) {
    self.path = path
    target = Self.target(of: path)
    // Before the file beside it is made, which a refusal would leave behind.
    state = try Self.load(path, program, options)
    // Beside the file, and not beside a link to it: all that use the file share one lock.
    crashLog = open(target.path + ".crash", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard crashLog >= 0 else {
      throw StressOptionError(
        "cannot write '\(target.path).crash': \(String(cString: strerror(errno)))")
    }
    // Until this process ends. File systems that have no such locks are used without.
    guard flock(crashLog, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
      throw StressOptionError("another process runs with the state '\(path)'")
    }
    // Again: another process may have written it before it gave up the lock.
    state = try Self.load(path, program, options)
    takeCrash()
    state.sessions += 1
    try save()
  }

  deinit {
    // Closing is not enough: a process that another thread is about to start has the file, too.
    _ = flock(crashLog, LOCK_UN)
    close(crashLog)
  }

  /// What the file says, or a new state if there is none.
  private static func load(
    _ path: String, _ program: StressProgram, _ options: StressOptions
  ) throws(StressOptionError) -> State {
    let command = command(options)
    var status = stat()
    let exists = stat(path, &status) == 0
    guard !exists || status.st_mode & S_IFMT == S_IFREG else {
      throw StressOptionError("cannot write '\(path)': not a regular file")
    }
    guard let data = exists ? FileManager.default.contents(atPath: path) : Data() else {
      throw StressOptionError("cannot read '\(path)'")
    }
    if data.isEmpty {
      return State(program: program.name, command: command, seed: options.seed)
    }
    guard let state = try? JSONDecoder().decode(State.self, from: data), state.isPossible else {
      throw StressOptionError("'\(path)' is no state of a run; choose another file")
    }
    guard state.program == program.name, state.command == command else {
      throw StressOptionError(
        "'\(path)' is the state of another run: \(state.program) \(state.command)")
    }
    return state
  }

  /// Changes the state, and writes it in the place of the one before: a process that is killed
  /// leaves one or the other.
  func update(_ change: (inout State) -> Void) throws(StressOptionError) {
    change(&state)
    try save()
  }

  /// Where the links at this path lead, also if nothing is there yet.
  static func target(of path: String) -> URL {
    var target = URL(fileURLWithPath: path)
    for _ in 0..<32 {
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path)
      else { break }
      target = URL(fileURLWithPath: next, relativeTo: target.deletingLastPathComponent())
    }
    return target
  }

  private func save() throws(StressOptionError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      try (encoder.encode(state) + Data("\n".utf8))
        .write(to: target, options: .atomic)
    } catch {
      throw StressOptionError("cannot write '\(path)': \(error.localizedDescription)")
    }
  }

  /// Adds the crash of the session before to the results.
  private func takeCrash() {
    var crash = [UInt8](repeating: 0, count: 1 << 16)
    lseek(crashLog, 0, SEEK_SET)
    let count = read(crashLog, &crash, crash.count)
    crash = Array(crash.prefix(max(count, 0)))
    ftruncate(crashLog, 0)
    guard let running = state.running else { return }
    state.running = nil
    // Without a message the process was killed from outside, which breaks no promise.
    guard !crash.isEmpty else { return }
    let text = String(decoding: crash, as: UTF8.self)
    var lines = text.split(separator: "\n")
    // The last one repeats the trial, of which the result has the command.
    if let repetition = lines.lastIndex(where: { $0.hasPrefix("repeat with") }) {
      lines.remove(at: repetition)
    }
    let result = TrialResult(
      scenario: running.scenario, variant: running.variant, rounds: 0, operations: 0, seconds: 0,
      brokenPromises: [lines.joined(separator: "\n")], command: running.command)
    if let index = state.results.firstIndex(where: { $0.isOfSame(result) }) {
      state.results[index].add(result)
    } else {
      state.results.append(result)
    }
  }

  /// What must be the same to resume. A new seed is no difference: the file has the first one.
  private static func command(_ options: StressOptions) -> String {
    let own = options.texts.map { "\($0.name) \($0.text)" }
    let choices = [options.scenarios, options.variants].map { $0.joined(separator: ",") }
    return (["--threads \(options.threads)"] + own + choices.filter { !$0.isEmpty })
      .joined(separator: " ")
  }
}
