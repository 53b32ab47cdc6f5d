/// A benchmark as a command-line program.
public struct BenchmarkProgram {
  private let name: String
  private let summary: String
  private let workloads: [Workload]
  private let notes: [String]

  /// - Parameter notes: what a reader of the figures must know, such as which systems are
  ///   left out, and why. A line each.
  public init(_ name: String, summary: String, workloads: [Workload], notes: [String] = []) {
    self.name = name
    self.summary = summary
    self.workloads = workloads
    self.notes = notes
  }
}

extension BenchmarkProgram {
  /// Does what the command line says, and exits.
  public func main() -> Never {
    let status: Int32
    do throws(OptionError) {
      status = run(try CommandLine.validArguments())
    } catch {
      printError(error.message)
      exit(2)
    }
    if let error = Console.outputError {
      printError(error)
      exit(max(1, status))
    }
    exit(status)
  }

  /// Does what `arguments` say.
  ///
  /// - Parameter arguments: the command line, without the name of the program.
  /// - Returns: the exit status: 0, or 1 if a requirement or a result is missed, or 2 if the
  ///   options are unusable.
  func run(_ arguments: some Sequence<String>) -> Int32 {
    do {
      var options = try Options(arguments)
      if options.asksForHelp {
        Console.output.print("usage: \(name) [options]\n\n\(summary)\n\n\(Options.help)")
        return 0
      }
      let experiments = try selection(options)
      if options.lists {
        list(experiments)
        return 0
      }
      try Self.refuseDebugBuild()
      if !options.systems.isEmpty {
        let known = experiments.flatMap { $0.makeCases().map(\.system) }
        options.systems = try options.systems(among: Set(known))
      }
      if let iterations = options.iterations {
        try runOnly(iterations, experiments, options)
        return 0
      }
      return try measure(experiments, options) ? 0 : 1
    } catch let error as OptionError {
      printError(error.message)
      return 2
    } catch let error as WrongResult {
      printError(error.message)
      return 1
    } catch {
      printError("\(error)")
      return 1
    }
  }

  private func printError(_ message: String) {
    Console.error.print("\(name): \(message)")
  }

  private static func refuseDebugBuild() throws(OptionError) {
    #if DEBUG
      throw OptionError(message: "figures of a debug build mean nothing; use swift run -c release")
    #endif
  }
}

// MARK: - Selecting

extension BenchmarkProgram {
  /// The experiments that `options` ask for.
  private func selection(_ options: Options) throws(OptionError) -> [Experiment] {
    let settings = Settings(options)
    let all = workloads.flatMap { $0.makeExperiments(settings) }
    guard !options.workloads.isEmpty else { return all }
    for path in options.workloads where !all.contains(where: { $0.name.isWithin(path) }) {
      throw OptionError(message: "no workload '\(path)'; --list prints them")
    }
    return all.filter { experiment in options.workloads.contains { experiment.name.isWithin($0) } }
  }

  private func list(_ experiments: [Experiment]) {
    for note in notes { Console.output.print("note: \(note)") }
    for workload in workloads {
      let own = experiments.filter { $0.name.isWithin(workload.name) }
      guard !own.isEmpty else { continue }
      Console.output.print("\(workload.name): \(workload.summary)")
      for experiment in own {
        Console.output.print("  \(experiment.title)")
        for requirement in experiment.requirements {
          Console.output.print("    must: \(requirement.title) \(requirement.bound)")
        }
      }
    }
  }

  /// The cases of `experiment` that `options` ask for.
  private func cases(_ experiment: Experiment, _ options: Options) -> [Case] {
    let cases = experiment.makeCases()
    guard !options.systems.isEmpty else { return cases }
    guard cases.contains(where: { options.systems.contains($0.system) }) else { return [] }
    return cases.filter { $0.isBaseline || options.systems.contains($0.system) }
  }
}

// MARK: - Running

extension BenchmarkProgram {
  /// How many times a figure is measured, if it misses its limit and that is to be checked.
  private static var attempts: Int { 3 }

  /// Prepares everything that is written to, before the time is spent. Empties older reports only
  /// if both can be used.
  static func prepareOutput(
    _ options: Options
  ) throws(OptionError) -> (json: OutputFile?, csv: OutputFile?) {
    Console.reserve()
    let json = try options.jsonPath.map { path throws(OptionError) in try OutputFile(path) }
    let csv = try options.csvPath.map { path throws(OptionError) in try OutputFile(path) }
    if let json, let csv, json.isSame(as: csv) {
      throw OptionError(message: "--json and --csv name the same file '\(options.csvPath!)'")
    }
    try json?.clear()
    try csv?.clear()
    // A reader that closes the pipe of the text does not end the reports, nor the verdict.
    if json != nil || csv != nil || options.checks { signal(SIGPIPE, SIG_IGN) }
    return (json, csv)
  }

  /// - Returns: whether every requirement was reached, if that was to be checked.
  private func measure(_ experiments: [Experiment], _ options: Options) throws -> Bool {
    let (json, csv) = try Self.prepareOutput(options)
    let runner = Runner(isQuick: options.isQuick)
    var report = Report(name, .current(), isQuick: options.isQuick, notes: notes)
    Console.output.print(report.headline + "\n")
    var missed: [(index: Int, experiment: Experiment, requirements: [Requirement])] = []
    for (index, experiment) in experiments.enumerated() {
      let cases = cases(experiment, options)
      guard !cases.isEmpty else { continue }
      Console.error.print("[\(index + 1)/\(experiments.count)] \(experiment.title)")
      let outcome = try runner.run(experiment, cases)
      let verdicts = outcome.verdicts(on: experiment.requirements)
      let kept = options.checks ? verdicts.filter(\.isKept) : verdicts
      if kept.count < verdicts.count {
        let requirements = verdicts.filter { !$0.isKept }.map(\.requirement)
        missed.append((index, experiment, requirements))
      }
      report.append(outcome, kept)
      Console.output.print(Report.text(of: outcome))
    }
    // After everything else: other work on the machine has phases of seconds.
    for attempt in 2...Self.attempts {
      for (position, miss) in missed.enumerated() where !miss.requirements.isEmpty {
        Console.error.print(
          "[\(miss.index + 1)/\(experiments.count)] \(miss.experiment.title), again")
        let again = try runner.run(miss.experiment, cases(miss.experiment, options))
        let verdicts = again.verdicts(on: miss.requirements)
        let isLast = attempt == Self.attempts
        report.append(again, isLast ? verdicts : verdicts.filter(\.isKept))
        missed[position].requirements = verdicts.filter { !$0.isKept }.map(\.requirement)
        Console.output.print(Report.text(of: again))
      }
    }
    if !report.verdicts.isEmpty { Console.output.print(Report.text(of: report.verdicts)) }
    try report.write(json: json, csv: csv)
    guard options.checks else { return true }
    // Nothing that was not measured has kept its limit.
    guard !report.verdicts.isEmpty else {
      throw OptionError(message: "--check: what was selected has no limit; --list prints them")
    }
    return report.verdicts.allSatisfy(\.isKept)
  }

  /// Runs the one case that `options` describe `iterations` times, and nothing else.
  private func runOnly(
    _ iterations: Int, _ experiments: [Experiment], _ options: Options
  ) throws {
    guard !options.workloads.isEmpty, options.systems.count == 1 else {
      throw OptionError(message: "--iterations needs --workload and one --strategy")
    }
    guard experiments.count == 1, let experiment = experiments.first else {
      throw OptionError(
        message: "--iterations: \(experiments.count) experiments match; "
          + "name one (--list prints them) and one of --sizes")
    }
    let cases = experiment.makeCases().filter { options.systems.contains($0.system) }
    guard cases.count == 1, let only = cases.first else {
      throw OptionError(
        message: "--iterations: \(cases.count) cases of \(experiment.title) match; "
          + "choose by --strategy, --sizes and --threads")
    }
    _ = try only.takeSample(iterations: iterations)
  }
}

extension String {
  /// Whether this path is `other`, or lies within it.
  fileprivate func isWithin(_ other: String) -> Bool {
    self == other || hasPrefix(other + "/")
  }
}
