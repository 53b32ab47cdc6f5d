internal import Foundation

/// What the command line of a ``StressProgram`` asks for.
///
/// ## Thread safety
/// A value.
public struct StressOptions: Sendable {
  /// Shared among the trials; with ``hours``, the length of one pass.
  public var seconds = 10.0
  /// The threads of a scenario: twice the processors, if the command line does not say.
  public var threads = 2 * ProcessInfo.processInfo.activeProcessorCount
  /// In the order of the list, without repetitions. All, if empty.
  public var scenarios: [String] = []
  /// In the order of the list, without repetitions. All, if empty.
  public var variants: [String] = []
  /// A new one if the command line does not say.
  public var seed = UInt64.random(in: 1...UInt64(Int64.max))
  /// How many rounds each trial has to do, whatever the time.
  public var rounds: Int?
  /// The program ends if no round ends for this number of seconds.
  public var stall = Self.defaultStall
  /// Where the figures and verdicts go.
  public var jsonPath: String?
  /// How long passes are repeated, each with another seed; one pass if `nil`.
  public var hours: Double?
  /// What a run of ``hours`` is resumed from.
  public var statePath: String?
  /// The resident memory in megabytes above which a trial fails; no limit if `nil`.
  public var memoryLimit: Int?
  /// Whether the scenarios are to be listed.
  public var wantsList = false
  /// Whether the help is to be printed.
  public var wantsHelp = false
  /// The options of the program, by name.
  var values: [String: any Sendable] = [:]
  /// Their texts, in the order of the program.
  var texts: [(name: String, text: String)] = []

  /// The value of an option of the program.
  ///
  /// - Parameter option: one of the options of the program.
  /// - Returns: its value, or its default value if the command line does not have it.
  public subscript<Value>(option: StressOption<Value>) -> Value {
    values[option.name] as? Value ?? option.defaultValue
  }
}

extension StressOptions {
  /// Traps unless an option may have this name.
  static func checkName(of option: String) {
    require(
      option.hasPrefix("--") && option.count > 2 && !option.contains("="),
      "'\(option)' is no name of an option: write --name")
  }
}

extension StressOptions: Equatable {
  /// Compares what two command lines ask for.
  ///
  /// - Parameters:
  ///   - left: a command line.
  ///   - right: another command line.
  /// - Returns: whether they ask for the same.
  public static func == (left: Self, right: Self) -> Bool {
    left.command == right.command && left.wantsList == right.wantsList
      && left.wantsHelp == right.wantsHelp && left.seed == right.seed
      && left.scenarios == right.scenarios && left.variants == right.variants
      && left.jsonPath == right.jsonPath && left.hours == right.hours
      && left.statePath == right.statePath && left.memoryLimit == right.memoryLimit
      && left.stall == right.stall
  }

  static let defaultStall = 60.0

  /// The part of a command line that repeats what threads do, and what breaks a promise or ends the
  /// program, apart from the choice of the trial.
  var command: String {
    let limit = rounds.map { "--rounds \($0)" } ?? "--seconds \(seconds.exact)"
    let own = texts.map { "\($0.name) \($0.text.shellWord) " }.joined()
    let memory = memoryLimit.map { " --memory \($0)" } ?? ""
    let stall = stall == Self.defaultStall ? "" : " --stall \(stall.exact)"
    return "--seed \(seed) --threads \(threads) \(own)\(limit)\(memory)\(stall)"
  }
}
