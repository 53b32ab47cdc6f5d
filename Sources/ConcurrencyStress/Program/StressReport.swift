internal import Foundation

/// The results of a run.
struct StressReport {
  let program: StressProgram
  let options: StressOptions
  /// One for each scenario and variant, in the order of their first trial.
  var results: [TrialResult] = []
  var seconds = 0.0
  /// What a run of hours has to report beside the results, or `nil` for a single pass.
  var passes: Passes?
  var peakMemory = 0

  /// The progress of a run of hours.
  struct Passes: Equatable {
    /// The passes that are complete.
    var completed = 0
    /// How often the run was started.
    var sessions = 1
    /// The hours that were asked for.
    var hours = 0.0
  }

  init(_ program: StressProgram, _ options: StressOptions) {
    self.program = program
    self.options = options
  }

  var held: Bool { results.allSatisfy(\.held) }

  /// Adds the result of a trial to that of earlier trials of its scenario and variant.
  mutating func add(_ result: TrialResult) {
    if let index = results.firstIndex(where: { $0.isOfSame(result) }) {
      results[index].add(result)
    } else {
      results.append(result)
    }
  }

  /// The options, with the seed.
  var heading: String {
    let limit =
      options.hours.map { "\($0.shortened) h in passes of \(options.seconds.shortened) s" }
      ?? options.rounds.map { "\($0.grouped) rounds each" } ?? "\(options.seconds.shortened) s"
    let own = options.texts.map { ", \($0.name.dropFirst(2)) \($0.text)" }.joined()
    return "\(program.name): \(limit), \(options.threads) threads\(own), seed \(options.seed)"
  }

  /// The command that repeats a trial.
  func command(for trial: Trial) -> String {
    let variant = trial.variant.flatMap { name in
      program.variants.map { "\($0.option) \(name.shellWord) " }
    }
    return "\(program.name) --scenario \(trial.scenario.name.shellWord) \(variant ?? "")"
      + trial.options.command
  }
}

// MARK: - Lines

extension StressReport {
  /// The progress of a trial.
  static func progress(_ trial: Trial, done: Double, seconds: Double) -> String {
    let rate = seconds > 0 ? Int(Double(trial.operations) / seconds) : 0
    let variant = trial.variant.map { "\($0), " } ?? ""
    return "        \(trial.scenario.name) \(Int(done * 100)) %: \(variant)"
      + "\(trial.operations.grouped) operations, \(rate.grouped)/s"
  }

  /// The result of a scenario.
  static func line(_ scenario: String, _ results: [TrialResult]) -> String {
    let rounds = results.reduce(0) { $0 + $1.rounds }
    let operations = results.reduce(0) { $0 + $1.operations }
    let seconds = results.reduce(0) { $0 + $1.seconds }
    let rate = Int(Double(operations) / max(seconds, 1e-9))
    return "\(results.allSatisfy(\.held) ? "held  " : "BROKEN")  \(scenario): "
      + "\(rounds.grouped) rounds, \(operations.grouped) operations, \(rate.grouped)/s"
  }

  /// The progress of a run of hours, after a pass.
  var passLine: String {
    let rounds = results.reduce(0) { $0 + $1.rounds }
    let operations = results.reduce(0) { $0 + $1.operations }
    let broken = results.count { !$0.held }
    let passes = passes ?? Passes()
    return "\(held ? "held  " : "BROKEN")  pass \(passes.completed): "
      + String(format: "%.3f", seconds / 3600) + " of \(passes.hours.shortened) h, "
      + "\(rounds.grouped) rounds, \(operations.grouped) operations, \(broken) broken, "
      + "\((peakMemory >> 20).grouped) MB at most"
  }

  /// The verdict on each scenario and variant.
  var table: String {
    let names = (program.variants?.names ?? []).filter { name in
      results.contains { $0.variant == name }
    }
    // A program without variants has one column of verdicts.
    let columns: [String?] = names.isEmpty ? [nil] : names
    var table = Table()
    table.append(
      ["scenario"] + columns.map { $0 ?? "verdict" } + [
        "rounds", "operations", "seconds", "operations/s",
      ])
    var scenarios: [String] = []
    for result in results where !scenarios.contains(result.scenario) {
      scenarios.append(result.scenario)
    }
    for scenario in scenarios {
      let row = results.filter { $0.scenario == scenario }
      let verdicts = columns.map { variant in
        row.first { $0.variant == variant }.map { $0.held ? "held" : "BROKEN" } ?? ""
      }
      table.append([scenario] + verdicts + Self.figures(row))
    }
    table.append(["total"] + columns.map { _ in "" } + Self.figures(results))
    return table.text
  }

  private static func figures(_ results: [TrialResult]) -> [String] {
    let operations = results.reduce(0) { $0 + $1.operations }
    let seconds = results.reduce(0) { $0 + $1.seconds }
    return [
      results.reduce(0) { $0 + $1.rounds }.grouped, operations.grouped,
      String(format: "%.1f", seconds), Int(Double(operations) / max(seconds, 1e-9)).grouped,
    ]
  }

  /// Prints the table and writes the file.
  ///
  /// - Returns: the exit status.
  func finish(writingTo file: ReportFile?) -> Int32 {
    Console.output.print("\n\(table)\n")
    for result in results where !result.held {
      let label = result.variant.map { "\(result.scenario) on \($0)" } ?? result.scenario
      Console.output.print("BROKEN  \(label)")
      for promise in result.brokenPromises {
        Console.output.print("        " + promise.replacing("\n", with: "\n        "))
      }
      Console.output.print("        repeat with: \(result.command)")
    }
    if let passes {
      Console.output.print(
        "\(passes.completed) passes in \(passes.sessions) sessions, "
          + String(format: "%.3f", seconds / 3600) + " of \(passes.hours.shortened) h, "
          + "\((peakMemory >> 20).grouped) MB at most")
    }
    if Interruption.isRequested { Console.output.print("interrupted: the run is not complete") }
    let broken = results.count { !$0.held }
    Console.output.print(
      held
        ? "every promise held; seed \(options.seed)"
        : "\(broken) of \(results.count) trials found a broken promise; seed \(options.seed)")
    do throws(StressOptionError) {
      try file?.write(self)
      if let error = Console.outputError { throw StressOptionError(error) }
    } catch {
      Console.error.print("\(program.name): \(error.message)")
      return held ? 2 : 1
    }
    return held ? 0 : 1
  }
}
