internal import Foundation

extension ScheduleTest {
  /// Runs schedules, each with another seed, and throws a report of the first one that fails.
  ///
  /// - Parameters:
  ///   - schedules: how many.
  ///   - seed: the seed of the first one, which the next ones count up; that of the run if `nil`.
  /// - Returns: the report of schedules that all held.
  /// - Throws: ``StressFailure``.
  @discardableResult
  public func check(
    schedules: Int = 1_000, seed: UInt64? = nil
  ) throws(StressFailure) -> ScheduleReport {
    let report = run(schedules: schedules, seed: seed)
    if let failure = report.failure { throw StressFailure(failure.text) }
    return report
  }

  /// Runs schedules, each with another seed, until one fails.
  ///
  /// Before those with priorities, one runs in which jobs run in the order in which they become
  /// ready. It only measures the number of steps: `replay(choices: [])` checks it.
  ///
  /// - Parameters:
  ///   - schedules: how many.
  ///   - seed: the seed of the first one, which the next ones count up; that of the run if `nil`.
  /// - Returns: the report.
  public func run(schedules: Int = 1_000, seed: UInt64? = nil) -> ScheduleReport {
    run(schedules: schedules, seed: seed ?? SplitMix64.runSeed, seconds: .infinity)
  }

  /// - Parameter seconds: no schedule begins after this time, except the first.
  func run(schedules: Int, seed: UInt64, seconds: Double) -> ScheduleReport {
    let began = ContinuousClock.now
    return ScheduleThread.run { thread in
      let steps = measuredSteps(thread)
      for number in 0..<max(schedules, 1) {
        if number > 0, (ContinuousClock.now - began).seconds >= seconds {
          return ScheduleReport(schedules: number, isComplete: false, failure: nil)
        }
        let own = seed &+ UInt64(number)
        let result = thread.run(self, ScheduleChooser(order, seed: own, steps: steps), seed: own)
        guard !result.messages.isEmpty else { continue }
        let again = thread.run(self, ScheduleChooser(order, seed: own, steps: steps), seed: own)
        return ScheduleReport(
          schedules: number + 1, isComplete: false,
          failure: result.failure(of: order, seed: own, again: again))
      }
      return ScheduleReport(schedules: max(schedules, 1), isComplete: false, failure: nil)
    }
  }

  /// Repeats the schedule with this seed.
  ///
  /// - Parameter seed: that of a ``ScheduleReport/Failure``.
  /// - Returns: a report, which has the failure if there is one. It throws nothing: a test calls
  ///   `check(schedules: 1, seed:)` instead.
  public func replay(seed: UInt64) -> ScheduleReport {
    run(schedules: 1, seed: seed)
  }

  /// Repeats the schedule with these choices.
  ///
  /// - Parameter choices: those of a ``ScheduleReport/Failure``. One that is not possible stands
  ///   for the nearest one.
  /// - Returns: the report.
  public func replay(choices: [Int]) -> ScheduleReport {
    ScheduleThread.run { thread in
      let result = thread.run(self, ScheduleChooser(choices: choices), seed: nil)
      return ScheduleReport(
        schedules: 1, isComplete: false,
        failure: result.messages.isEmpty ? nil : result.failure(of: nil, seed: nil, again: result))
    }
  }

  /// Runs every schedule once, the first ones of very many, until one fails.
  ///
  /// - Parameter limit: the most schedules. ``ScheduleReport/isComplete`` says whether these were
  ///   all.
  /// - Returns: the report.
  /// - Complexity: the number of schedules grows exponentially with that of steps.
  public func explore(limit: Int = 10_000) -> ScheduleReport {
    ScheduleThread.run { thread in
      var choices: [Int] = []
      // What led to the next choice, which must be the same again.
      var expected: [ScheduleDecision] = []
      var isExhaustive = true
      for number in 1...max(limit, 1) {
        let result = thread.run(self, ScheduleChooser(choices: choices), seed: nil)
        isExhaustive =
          isExhaustive && !result.hasForeignJobs
          && result.decisions.prefix(expected.count).elementsEqual(expected)
        if !result.messages.isEmpty {
          let all = result.decisions.map(\.choice)
          let again = thread.run(self, ScheduleChooser(choices: all), seed: nil)
          return ScheduleReport(
            schedules: number, isComplete: false,
            failure: result.failure(of: nil, seed: nil, again: again))
        }
        // The last step at which there is another choice takes that one.
        guard let last = result.decisions.lastIndex(where: { $0.choice + 1 < $0.of }) else {
          return ScheduleReport(schedules: number, isComplete: isExhaustive, failure: nil)
        }
        expected = Array(result.decisions[..<last])
        choices = expected.map(\.choice) + [result.decisions[last].choice + 1]
      }
      return ScheduleReport(schedules: max(limit, 1), isComplete: false, failure: nil)
    }
  }

  /// A scenario of a ``StressProgram`` that runs this test.
  ///
  /// - Parameters:
  ///   - name: what the command line calls it.
  ///   - promise: what must hold, in a line.
  /// - Returns: the scenario.
  public func scenario(_ name: String, promise: String) -> StressScenario {
    StressScenario(name, promise: promise) { trial in
      while !trial.isOver {
        var generator = trial.generator(for: -1)
        // At most a second and a schedule: the program waits for the end of a round.
        let report = run(schedules: 16, seed: generator.next(), seconds: 1)
        trial.activities[0].add(report.schedules)
        if let failure = report.failure { trial.fail(failure.text) }
        trial.completeRound()
      }
    }
  }

  /// The number of steps if jobs run in the order in which they become ready; what seeds depend on.
  private func measuredSteps(_ thread: ScheduleThread) -> Int {
    guard case .priorities = order else { return 0 }
    return thread.run(self, ScheduleChooser(choices: []), seed: nil).decisions.count
  }
}
