internal import Foundation

/// What a ``LinearizabilityTest`` found.
///
/// ## Thread safety
/// A value.
public struct LinearizabilityReport: Sendable, CustomStringConvertible {
  /// How many histories were checked.
  public let histories: Int
  /// The seed that repeats what the threads call, though not when.
  public let seed: UInt64
  /// The smallest history that was found to have no explanation, as text; or `nil`.
  public let failure: String?
  /// The number of operations of that history.
  public let failureOperations: Int

  /// Whether each history was linearizable.
  public var held: Bool { failure == nil }

  /// The result in words, with the history that has no explanation.
  public var description: String {
    failure ?? "\(histories.grouped) histories are linearizable; seed \(seed)"
  }
}

extension LinearizabilityTest {
  /// Checks random histories, and throws the smallest one found that no order explains.
  ///
  /// - Parameters:
  ///   - seconds: how long to search for such a history. Searching a smaller one takes as long
  ///     again at most.
  ///   - seed: repeats what the threads call; that of the run if `nil`.
  /// - Returns: how many histories were checked.
  /// - Throws: ``StressFailure``.
  @discardableResult
  public func check(
    seconds: Double = 10, seed: UInt64? = nil
  ) throws(StressFailure) -> LinearizabilityReport {
    let report = run(seconds: seconds, seed: seed)
    if let failure = report.failure { throw StressFailure(failure) }
    return report
  }

  /// Checks random histories until one has no explanation, or the time is over.
  ///
  /// - Parameters:
  ///   - seconds: how long to search for such a history. Searching a smaller one takes as long
  ///     again at most.
  ///   - seed: repeats what the threads call; that of the run if `nil`.
  /// - Returns: what was found.
  /// - Precondition: the test has an operation.
  public func run(seconds: Double = 10, seed: UInt64? = nil) -> LinearizabilityReport {
    require(
      !operations.isEmpty, "the test has no operation: add one with operation(_:_:model:)")
    let seed = seed ?? SplitMix64.runSeed
    var generator = SplitMix64(seed: seed)
    let end = ContinuousClock.now.advanced(by: .seconds(seconds.asWait))
    var (count, size) = (0, 1)
    repeat {
      let plans = (0..<64).map { _ in HistoryPlan(self, &generator) }
      let histories = record(plans, seed: generator.next(), until: end, &size)
      for (plan, history) in zip(plans, histories) {
        count += 1
        if isExplained(history) { continue }
        let limit = min(
          ContinuousClock.now.advanced(by: .seconds(seconds.asWait)), .now + .seconds(20))
        let smallest = shrink(plan, history, until: limit, &generator)
        return LinearizabilityReport(
          histories: count, seed: seed, failure: describe(smallest, count, seed),
          failureOperations: smallest.operations.count)
      }
    } while ContinuousClock.now < end
    return LinearizabilityReport(histories: count, seed: seed, failure: nil, failureOperations: 0)
  }

  /// A scenario of a ``StressProgram`` that runs this test.
  ///
  /// - Parameters:
  ///   - name: what the command line calls it.
  ///   - promise: what must hold, in a line.
  /// - Returns: the scenario.
  public func scenario(_ name: String, promise: String) -> StressScenario {
    require(
      !operations.isEmpty, "the test has no operation: add one with operation(_:_:model:)")
    return StressScenario(name, promise: promise) { trial in
      var (count, size) = (0, 1)
      while !trial.isOver {
        var generator = trial.generator(for: -1)
        let plans = (0..<64).map { _ in HistoryPlan(self, &generator) }
        let activities = trial.activities.count > threads ? trial.activities : nil
        // The watchdog of the program ends it if a call does not return. It waits for the end of a
        // round, however long the calls take.
        let histories = record(
          plans, seed: generator.next(), seconds: .infinity, activities: activities,
          until: .now + .seconds(1), &size)
        for (plan, history) in zip(plans, histories) {
          count += 1
          if activities == nil { trial.activities[0].add(plan.count) }
          guard !isExplained(history) else { continue }
          let limit = ContinuousClock.now.advanced(by: .seconds(min(trial.patience, 20)))
          let smallest = shrink(plan, history, until: limit, &generator)
          trial.fail(describe(smallest, count, trial.options.seed))
          break
        }
        trial.completeRound()
      }
    }
  }
}

// MARK: - Recording

extension LinearizabilityTest {
  func isExplained(_ history: History<TestCall>) -> Bool {
    history.isLinearizable(by: TestModel(model: model, operations: operations))
  }

  /// Records the first ones of these plans: those for which there is time until `end`, and one at
  /// least.
  ///
  /// - Parameter size: how many to record at once. It grows as long as they take little time.
  private func record(
    _ plans: [HistoryPlan], seed: UInt64, seconds: Double = timeLimit,
    activities: [WorkerActivity]? = nil, until end: ContinuousClock.Instant, _ size: inout Int
  ) -> [History<TestCall>] {
    var histories: [History<TestCall>] = []
    repeat {
      let began = ContinuousClock.now
      histories += record(
        Array(plans[histories.count...].prefix(size)), seed: seed &+ UInt64(histories.count),
        seconds: seconds, activities: activities)
      size = .now - began < .milliseconds(50) ? min(2 * size, plans.count) : max(size / 2, 1)
    } while histories.count < plans.count && .now < end
    return histories
  }

  /// Does what each plan says on a new object, with all threads at once.
  ///
  /// - Parameters:
  ///   - seconds: how long the threads may take.
  ///   - activities: what the watchdog reads of each thread.
  func record(
    _ plans: [HistoryPlan], seed: UInt64, seconds: Double = timeLimit,
    activities: [WorkerActivity]? = nil
  ) -> [History<TestCall>] {
    let activities = activities ?? (0..<5).map { _ in WorkerActivity() }
    let rest = activities[activities.count - 1]
    let threads = max(1, plans.map(\.threads.count).max() ?? 1)
    let subjects = plans.map { _ in makeSubject() }
    let clocks = plans.map { _ in LogicalClock() }
    let crashes = plans.map { "a history crashed:\n\(text(of: $0))" }
    let barrier = StartBarrier(threads, seconds: .infinity)  // The threads have a time limit.
    let recorded = PerThread<[[History<TestCall>.Operation]]>(repeating: [], threads: threads)
    var before: [[History<TestCall>.Operation]] = []
    defer { CrashNotice.prepareThread(nil) }
    for (index, plan) in plans.enumerated() {
      CrashNotice.prepareThread(crashes[index])
      before.append(
        plan.before.map { perform($0, subjects[index], clocks[index], thread: 0, rest) })
    }
    runThreads(threads, seconds: seconds, activities: activities) { thread in
      var worker = Worker(
        index: thread, generator: SplitMix64(seed: seed &+ UInt64(thread)),
        activity: WorkerActivity())
      var timer = StopTimer()
      var mine: [[History<TestCall>.Operation]] = []
      mine.reserveCapacity(plans.count)
      defer { CrashNotice.prepareThread(nil) }
      for (index, plan) in plans.enumerated() {
        CrashNotice.prepareThread(crashes[index])
        let calls = thread < plan.threads.count ? plan.threads[thread] : []
        var operations: [History<TestCall>.Operation] = []
        operations.reserveCapacity(calls.count)
        barrier.arriveAndWait()
        worker.spin(upTo: 32)
        timer.mayStop {
          for call in calls {
            operations.append(
              perform(call, subjects[index], clocks[index], thread: thread, activities[thread]))
            worker.spin(upTo: 8)
          }
        }
        mine.append(operations)
      }
      recorded[thread] = mine
    }
    let all = recorded.all
    return plans.enumerated().map { index, plan in
      CrashNotice.prepareThread(crashes[index])
      let during = all.flatMap { $0[index] }
      let after = plan.after.map {
        perform($0, subjects[index], clocks[index], thread: 0, rest)
      }
      return History(operations: before[index] + during + after)
    }
  }

  /// What each thread calls.
  private func text(of plan: HistoryPlan) -> String {
    func line(_ title: String, _ calls: [HistoryPlan.Call]) -> String? {
      calls.isEmpty ? nil : "  \(title): \(calls.map(text).joined(separator: ", "))"
    }
    var lines = [line("before", plan.before)]
    for (thread, calls) in plan.threads.enumerated() {
      lines.append(line("thread \(thread)", calls))
    }
    return (lines + [line("after", plan.after)]).compactMap { $0 }.joined(separator: "\n")
  }

  private func text(of call: HistoryPlan.Call) -> String {
    operations[call.operation].callTexts[call.argument]
  }

  private func perform(
    _ call: HistoryPlan.Call, _ subject: Subject, _ clock: LogicalClock, thread: Int,
    _ activity: WorkerActivity
  ) -> History<TestCall>.Operation {
    let kind = operations[call.operation]
    activity.begin(kind.step)
    let began = clock.tick()
    let result = kind.call(subject, call.argument)
    let returned = clock.tick()
    return .init(
      action: TestCall(
        operation: call.operation, argument: call.argument,
        callText: kind.callTexts[call.argument], result: result),
      began: began, returned: returned, thread: thread)
  }
}

// MARK: - The smallest history

extension LinearizabilityTest {
  /// A history without an explanation, of the smallest plan for which one is found in time.
  ///
  /// A part of a recorded history says nothing, because the results depend on every call. So each
  /// plan that is smaller by one call is run again.
  private func shrink(
    _ plan: HistoryPlan, _ history: History<TestCall>, until end: ContinuousClock.Instant,
    _ generator: inout SplitMix64
  ) -> History<TestCall> {
    var (plan, history) = (plan, history)
    var (attempts, size) = (4, 1)
    while attempts <= 64 {
      var isSmaller = false
      search: for candidate in plan.smaller {
        for _ in 0..<attempts {
          guard ContinuousClock.now < end else { return history }
          let histories = record(
            Array(repeating: candidate, count: 64), seed: generator.next(), until: end, &size)
          guard let failing = histories.first(where: { !isExplained($0) }) else { continue }
          (plan, history, isSmaller) = (candidate, failing, true)
          break search
        }
      }
      if !isSmaller { attempts *= 4 }
    }
    return history
  }

  private func describe(_ history: History<TestCall>, _ count: Int, _ seed: UInt64) -> String {
    let model = TestModel(model: self.model, operations: operations)
    var lines = [
      "no order of these \(history.operations.count) calls explains their results "
        + "(history \(count.grouped), seed \(seed)):", "", history.columns, "",
    ]
    if let (order, expected) = history.contradiction(with: model) {
      let explained = order.map { history.operations[$0].action.wholeText }
      if !explained.isEmpty { lines.append("explained: \(explained.joined(separator: ", "))") }
      for (index, result) in expected {
        let action = history.operations[index].action
        lines.append(
          "then \(action.callText) of thread \(history.operations[index].thread) "
            + (result.hasPrefix("throws ") ? result : "returns \(Self.words(result))")
            + ", not \(Self.words(action.resultText))")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The text of a result, which is empty for a call that returns nothing.
  private static func words(_ result: String) -> String { result.isEmpty ? "nothing" : result }
}
