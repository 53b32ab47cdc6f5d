internal import Dispatch
internal import Foundation

/// A program that tries to break the promises of the code under test: arguments in, a report and an
/// exit status out.
///
/// ```swift
/// @main enum Main {
///   static func main() {
///     StressProgram("queue-stress", summary: "Tries to break the queue.", scenarios: [
///       queueTest.scenario("queue", promise: "the queue is linearizable")
///     ]).main()
///   }
/// }
/// ```
///
/// The exit status is 0 if every promise held, 1 if one broke, 2 if the options are unusable or the
/// report cannot be written, 3 if no round ended in time. `--help` prints the options.
///
/// ## Thread safety
/// A value that never changes.
public struct StressProgram: Sendable {
  /// What the program calls itself.
  public let name: String
  /// What the help says that it does.
  public let summary: String
  /// The variants of the code under test on which each scenario runs.
  public let variants: StressVariants?
  /// The options beside those of every program.
  public let options: [any AnyStressOption]
  /// The scenarios, in the order in which they run.
  public let scenarios: [StressScenario]
  /// Command lines, for the help.
  public let examples: [String]

  /// Creates a program, which ``main()`` runs.
  ///
  /// - Parameters:
  ///   - name: what the program calls itself.
  ///   - summary: what the help says that it does.
  ///   - variants: the variants of the code under test on which each scenario runs.
  ///   - options: the options beside those of every program.
  ///   - scenarios: the scenarios, in the order in which they run.
  ///   - examples: command lines, for the help.
  /// - Precondition: there is a scenario, and no two have the same name, nor do two options or an
  ///   option and one of those that every program has.
  public init(
    _ name: String, summary: String, variants: StressVariants? = nil,
    options: [any AnyStressOption] = [], scenarios: [StressScenario], examples: [String] = []
  ) {
    require(!scenarios.isEmpty, "\(name) has no scenario")
    require(
      Set(scenarios.map(\.name)).count == scenarios.count, "two scenarios of \(name) have one name")
    var names: Set<String> = []
    for option in options.map(\.name) + (variants.map { [$0.option] } ?? []) {
      require(
        !StressOptions.isOfEveryProgram(option) && names.insert(option).inserted,
        "two options of \(name) are called \(option)")
    }
    self.name = name
    self.summary = summary
    self.variants = variants
    self.options = options
    self.scenarios = scenarios
    self.examples = examples
  }
}

/// The variants of the code under test: implementations that keep the same promises.
///
/// ## Thread safety
/// A value that never changes.
public struct StressVariants: Sendable {
  /// The option that selects some of them, with both hyphens.
  public let option: String
  /// What one of them is called in the help.
  public let noun: String
  /// Their names, in the order in which they are tried.
  public let names: [String]

  /// Creates the variants in which each scenario runs.
  ///
  /// - Parameters:
  ///   - option: the option that selects some of them, with both hyphens.
  ///   - noun: what one of them is called in the help.
  ///   - names: their names, in the order in which they are tried.
  /// - Precondition: there is a name, and the option begins with two hyphens.
  public init(option: String, noun: String, names: [String]) {
    StressOptions.checkName(of: option)
    require(!names.isEmpty, "\(option) has no \(noun) to select")
    self.option = option
    self.noun = noun
    self.names = names
  }
}

extension StressProgram {
  /// Does what the command line asks for, and exits.
  public func main() -> Never {
    do throws(StressOptionError) {
      start(try CommandLine.validArguments())
    } catch {
      refuse(error)
    }
    exit(0)
  }

  /// Does what the arguments, which do not include the name of the program, ask for. Exits after a
  /// run; returns after `--help` and `--list`.
  ///
  /// - Parameter arguments: what follows the name of the program.
  public func start(_ arguments: [String]) {
    // Writing to a pipe without a reader is an error like any other, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    Console.reserve()
    do throws(StressOptionError) {
      let options = try StressOptions(arguments, for: self)
      if options.wantsHelp {
        Console.output.print(help)
      } else if options.wantsList {
        for line in list { Console.output.print(line) }
      } else {
        try run(options)
      }
      if let error = Console.outputError { throw StressOptionError(error) }
    } catch {
      refuse(error)
    }
  }

  private func refuse(_ error: StressOptionError) -> Never {
    Console.error.print("\(name): \(error.message)")
    exit(2)
  }

  /// Runs the scenarios on a thread of their own: the main thread serves the main queue, which the
  /// code under test may use.
  private func run(_ options: StressOptions) throws(StressOptionError) -> Never {
    let (file, state) = try openFiles(options)
    let run = StressRun(self, options, state: state, file: file)
    Interruption.install()
    let thread = Thread {
      let report = run.perform()
      exit(report.finish(writingTo: file))
    }
    thread.stackSize = 8 << 20
    thread.start()
    dispatchMain()
  }

  /// Opens the report and the state. Empties an older report only if both can be used.
  func openFiles(
    _ options: StressOptions
  ) throws(StressOptionError) -> (ReportFile?, StateFile?) {
    for case let path? in [options.jsonPath, options.statePath] where Console.prints(to: path) {
      // One would overwrite the other.
      throw StressOptionError("cannot write '\(path)': text is printed there")
    }
    let file = try options.jsonPath.map { path throws(StressOptionError) in try ReportFile(path) }
    let state = try options.statePath.map { path throws(StressOptionError) in
      let target = StateFile.target(of: path).path
      if let file, file.isSame(as: target) || file.isSame(as: target + ".crash") {
        throw StressOptionError("--json and --state name the same file '\(path)'")
      }
      return try StateFile(path, for: self, options)
    }
    try file?.clear()
    return (file, state)
  }
}
