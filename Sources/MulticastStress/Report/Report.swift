import BenchmarkHarness
import Foundation
import Multicast

/// The results of a run.
struct Report {
  let options: Options
  var outcomes: [Outcome] = []
  var seconds = 0.0

  init(_ options: Options) {
    self.options = options
  }

  var held: Bool { outcomes.allSatisfy(\.held) }

  /// The options, with the seed.
  var heading: String {
    let limit =
      options.rounds.map { "\($0.grouped) rounds each" } ?? "\(options.seconds.shortened) s"
    return
      "multicast-stress: \(limit), \(options.threads) threads, \(options.delegates) delegates, "
      + "mix \(options.mix), seed \(options.seed)"
  }

  /// The command that repeats a trial.
  func command(for trial: Trial) -> String {
    let limit = options.rounds.map { "--rounds \($0)" } ?? "--seconds \(options.seconds.shortened)"
    return "multicast-stress --scenario \(trial.scenario.name) --strategy \(trial.storage) "
      + "--seed \(options.seed) --threads \(options.threads) --delegates \(options.delegates) "
      + "--mix \(options.mix) \(limit)"
  }
}

// MARK: - Lines

extension Report {
  /// The progress of a trial.
  static func progress(_ trial: Trial, done: Double, seconds: Double) -> String {
    let rate = seconds > 0 ? Int(Double(trial.operations) / seconds) : 0
    return "        \(trial.scenario.name) \(Int(done * 100)) %: \(trial.storage), "
      + "\(trial.operations.grouped) operations, \(rate.grouped)/s"
  }

  /// The result of a scenario.
  static func line(_ scenario: String, _ outcomes: [Outcome]) -> String {
    let rounds = outcomes.reduce(0) { $0 + $1.rounds }
    let operations = outcomes.reduce(0) { $0 + $1.operations }
    let seconds = outcomes.reduce(0) { $0 + $1.seconds }
    let rate = Int(Double(operations) / max(seconds, 1e-9))
    return "\(outcomes.allSatisfy(\.held) ? "held  " : "BROKEN")  \(scenario): "
      + "\(rounds.grouped) rounds, \(operations.grouped) operations, \(rate.grouped)/s"
  }

  /// The verdict on each scenario and strategy.
  var table: String {
    let strategies = StorageStrategy.allCases.filter { storage in
      outcomes.contains { $0.storage == storage }
    }
    var table = Table()
    table.append(
      ["scenario"] + strategies.map(\.rawValue) + [
        "rounds", "operations", "seconds", "operations/s",
      ])
    var scenarios: [String] = []
    for outcome in outcomes where scenarios.last != outcome.scenario {
      scenarios.append(outcome.scenario)
    }
    for scenario in scenarios {
      let row = outcomes.filter { $0.scenario == scenario }
      let verdicts = strategies.map { storage in
        row.first { $0.storage == storage }.map { $0.held ? "held" : "BROKEN" } ?? ""
      }
      table.append([scenario] + verdicts + Self.figures(row))
    }
    table.append(["total"] + strategies.map { _ in "" } + Self.figures(outcomes))
    return table.text
  }

  private static func figures(_ outcomes: [Outcome]) -> [String] {
    let operations = outcomes.reduce(0) { $0 + $1.operations }
    let seconds = outcomes.reduce(0) { $0 + $1.seconds }
    return [
      outcomes.reduce(0) { $0 + $1.rounds }.grouped, operations.grouped,
      String(format: "%.1f", seconds), Int(Double(operations) / max(seconds, 1e-9)).grouped,
    ]
  }

  /// Prints the table and writes the file.
  ///
  /// - Returns: the exit status.
  func finish(writingTo file: ReportFile?) -> Int32 {
    Console.output.print("\n\(table)\n")
    for outcome in outcomes where !outcome.held {
      Console.output.print("BROKEN  \(outcome.scenario) on \(outcome.storage)")
      for promise in outcome.brokenPromises { Console.output.print("        \(promise)") }
      Console.output.print("        repeat with: \(outcome.command)")
    }
    let broken = outcomes.count { !$0.held }
    Console.output.print(
      held
        ? "every promise held; seed \(options.seed)"
        : "\(broken) of \(outcomes.count) trials found a broken promise; seed \(options.seed)")
    do throws(OptionError) {
      try file?.write(self)
    } catch {
      Console.error.print("multicast-stress: \(error.message)")
      return held ? 2 : 1
    }
    return held ? 0 : 1
  }
}
