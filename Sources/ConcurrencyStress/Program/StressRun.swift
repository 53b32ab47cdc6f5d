internal import Foundation

/// All the trials that the options ask for, one after the other.
final class StressRun: Sendable {
  private let program: StressProgram
  private let options: StressOptions
  private let scenarios: [StressScenario]
  private let variants: [String?]
  private let state: StateFile?
  private let file: ReportFile?

  /// - Parameters:
  ///   - state: what a run of hours is resumed from.
  ///   - file: where a run of hours writes its report after each pass.
  init(
    _ program: StressProgram, _ options: StressOptions, state: StateFile? = nil,
    file: ReportFile? = nil
  ) {
    self.program = program
    self.state = state
    self.file = file
    var options = options
    if let state { options.seed = state.state.seed }
    self.options = options
    scenarios = program.scenarios.filter {
      options.scenarios.isEmpty || options.scenarios.contains($0.name)
    }
    variants =
      program.variants.map { options.variants.isEmpty ? $0.names : options.variants } ?? [nil]
  }

  /// Runs everything, and prints the progress.
  func perform() -> StressReport {
    var report = StressReport(program, options)
    Console.output.print(report.heading)
    let monitor = Monitor(
      stall: options.stall, memoryLimit: options.memoryLimit, showsProgress: options.hours == nil
    ) { [log = state?.crashLog ?? -1] description in
      if log >= 0 { description.withCString { _ = write(log, $0, strlen($0)) } }
      Monitor.endProcess(description)
    }
    if let hours = options.hours {
      repeatPasses(until: hours, &report, monitor)
    } else {
      let began = ContinuousClock.now
      perform(pass: options, from: 0, monitor, &report) { _, _, _ in }
      report.seconds = (.now - began).seconds
    }
    report.peakMemory = max(report.peakMemory, monitor.peakMemory)
    return report
  }
}

extension StressRun {
  /// Repeats passes, each with another seed, until they have taken this number of hours.
  private func repeatPasses(until hours: Double, _ report: inout StressReport, _ monitor: Monitor) {
    let began = ContinuousClock.now
    let saved = state?.state
    var pass = saved?.passes ?? 0
    var next = saved?.trials ?? 0
    let before = saved?.seconds ?? 0
    report.results = saved?.results ?? []
    report.passes = .init(completed: pass, sessions: saved?.sessions ?? 1, hours: hours)
    report.seconds = before
    report.peakMemory = saved?.peakMemory ?? 0
    if report.seconds > 0 { Console.output.print("resumed after \(report.passLine.dropFirst(8))") }
    while report.seconds < hours * 3600 && !Interruption.isRequested {
      var options = options
      options.hours = nil
      options.seed = Self.seed(of: pass, self.options.seed)
      options.seconds = min(options.seconds, max(hours * 3600 - report.seconds, 0.001))
      perform(pass: options, from: next, monitor, &report) { report, done, running in
        report.seconds = before + (.now - began).seconds
        report.peakMemory = max(report.peakMemory, monitor.peakMemory)
        self.save(report, pass, done, running)
      }
      guard !Interruption.isRequested else { break }
      pass += 1
      next = 0
      report.passes?.completed = pass
      save(report, pass, next, nil)
      monitor.print(report.passLine)
      writeReport(report)
    }
    report.seconds = max(report.seconds, before + (.now - began).seconds)
    writeReport(report)
  }

  /// The seed of a pass, which `--seed` accepts.
  private static func seed(of pass: Int, _ seed: UInt64) -> UInt64 {
    guard pass > 0 else { return seed }
    var mixer = SplitMix64(seed: seed &+ UInt64(pass))
    return mixer.next() & UInt64(Int64.max)
  }

  private func save(
    _ report: StressReport, _ pass: Int, _ trials: Int, _ running: StateFile.Running?
  ) {
    do throws(StressOptionError) {
      try state?.update { state in
        state.seconds = report.seconds
        state.passes = pass
        state.trials = trials
        state.results = report.results
        state.peakMemory = report.peakMemory
        state.running = running
      }
    } catch {
      // The run is worth more than its file: a later save may succeed.
      Console.error.print("\(program.name): \(error.message)")
    }
  }

  private func writeReport(_ report: StressReport) {
    do throws(StressOptionError) {
      try file?.write(report)
    } catch {
      Console.error.print("\(program.name): \(error.message)")
    }
  }
}

extension StressRun {
  /// Runs each scenario on each variant, once.
  ///
  /// - Parameters:
  ///   - first: the number of trials at the beginning that are left out.
  ///   - progress: called before and after each trial, with the number of trials of this pass that
  ///     are done and the trial that begins.
  private func perform(
    pass options: StressOptions, from first: Int, _ monitor: Monitor, _ report: inout StressReport,
    _ progress: (inout StressReport, Int, StateFile.Running?) -> Void
  ) {
    let count = scenarios.count * variants.count
    let end = ContinuousClock.now.advanced(
      by: .seconds(options.seconds * Double(count - first) / Double(count)))
    var number = 0
    for scenario in scenarios {
      var results: [TrialResult] = []
      for variant in variants where !Interruption.isRequested {
        number += 1
        guard number > first else { continue }
        let now = ContinuousClock.now
        let trial = Trial(
          scenario, variant: variant, options,
          options.rounds.map(Trial.Limit.rounds)
            ?? .until(now.advanced(by: share(of: end - now, count - number + 1, count, options))))
        let command = report.command(for: trial)
        progress(
          &report, number - 1,
          StateFile.Running(scenario: scenario.name, variant: variant, command: command))
        let result = perform(
          trial, Double(results.count) / Double(variants.count), command, monitor)
        results.append(result)
        report.add(result)
        for failure in result.brokenPromises {
          monitor.print("BROKEN  \(trial.label): \(failure)")
        }
        progress(&report, Interruption.isRequested ? number - 1 : number, nil)
      }
      if options.hours == nil && report.passes == nil && !results.isEmpty {
        monitor.print(StressReport.line(scenario.name, results))
      }
    }
  }

  private func perform(
    _ trial: Trial, _ done: Double, _ command: String, _ monitor: Monitor
  ) -> TrialResult {
    let began = ContinuousClock.now
    CrashNotice.prepare("\(trial.label) crashed", command, log: state?.crashLog ?? -1)
    monitor.watch(trial, done: done, share: 1 / Double(variants.count), command: command)
    trial.scenario.run(trial)
    monitor.rest()
    // Of a scenario that does not use runRounds, which checks after each round.
    if trial.brokenPromises.isEmpty { trial.checkLifetimes() }
    // Nothing that was not tried has held.
    trial.expect(
      trial.rounds > 0 || !trial.brokenPromises.isEmpty || Interruption.isRequested,
      "the scenario completed no round: it must call completeRound()")
    return TrialResult(trial, seconds: (.now - began).seconds, command: command)
  }

  /// How long the next trial may take: an equal share of the time that is left, but at least half
  /// of an equal share of all, because earlier trials may have taken longer.
  private func share(
    of rest: Duration, _ left: Int, _ all: Int, _ options: StressOptions
  ) -> Duration {
    max(rest / left, .seconds(options.seconds) / all / 2)
  }
}
