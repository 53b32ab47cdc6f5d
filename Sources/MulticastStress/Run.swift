import Foundation
import Multicast

/// All the trials that the options ask for, one after the other.
final class Run: Sendable {
  private let options: Options
  private let scenarios: [any Scenario.Type]
  private let strategies: [StorageStrategy]

  init(_ options: Options) {
    self.options = options
    scenarios = Scenarios.all.filter {
      options.scenarios.isEmpty || options.scenarios.contains($0.name)
    }
    strategies = options.strategies.isEmpty ? StorageStrategy.allCases : options.strategies
  }

  /// Runs everything, and prints the progress.
  func perform() -> Report {
    let began = ContinuousClock.now
    let end = began.advanced(by: .seconds(options.seconds))
    let monitor = Monitor(stall: options.stall)
    var report = Report(options)
    Console.output.print(report.heading)
    let count = scenarios.count * strategies.count
    var left = count
    for scenario in scenarios {
      var outcomes: [Outcome] = []
      for storage in strategies {
        let now = ContinuousClock.now
        let trial = Trial(
          scenario, on: storage, options,
          options.rounds.map(Trial.Limit.rounds)
            ?? .until(now.advanced(by: share(of: end - now, left, count))))
        left -= 1
        let done = Double(outcomes.count) / Double(strategies.count)
        let command = report.command(for: trial)
        CrashNotice.prepare("\(trial.label) crashed", command)
        monitor.watch(
          trial, done: done, share: 1 / Double(strategies.count), command: command)
        scenario.run(trial)
        monitor.rest()
        outcomes.append(
          Outcome(trial, seconds: (ContinuousClock.now - now).seconds, command: command))
        for failure in trial.brokenPromises { monitor.print("BROKEN  \(trial.label): \(failure)") }
      }
      monitor.print(Report.line(scenario.name, outcomes))
      report.outcomes += outcomes
    }
    report.seconds = (ContinuousClock.now - began).seconds
    return report
  }
}

extension Run {
  /// How long the next trial may take: an equal share of the time that is left, but at least half of
  /// an equal share of all, because earlier trials may have taken longer.
  private func share(of rest: Duration, _ left: Int, _ all: Int) -> Duration {
    max(rest / left, .seconds(options.seconds) / all / 2)
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
