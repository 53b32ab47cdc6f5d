/// Runs schedules whose first task inherits the task-local values of the caller.
package struct ScheduleRunner: Sendable {
  private let test: ScheduleTest
  private let thread = ScheduleThread()

  package init(order: ScheduleOrder, _ body: @escaping @Sendable (Schedule) async throws -> Void) {
    test = ScheduleTest(order: order, body)
  }

  /// How a schedule failed.
  package struct Failure: Sendable {
    package let text: String
    /// Whether the body has returned or thrown.
    package let hasEnded: Bool
  }

  /// Runs the schedule with this seed, and returns how it failed.
  package func run(seed: UInt64) async -> Failure? {
    var steps = 0
    if case .priorities = test.order {
      steps = await run(ScheduleChooser(choices: []), seed: nil).0.decisions.count
    }
    let chooser = ScheduleChooser(test.order, seed: seed, steps: steps)
    let (result, hasEnded) = await run(chooser, seed: seed)
    guard !result.messages.isEmpty else { return nil }
    // Not run twice: that would record its issues twice.
    return Failure(
      text: result.failure(of: test.order, seed: seed, again: result).text, hasEnded: hasEnded)
  }

  private func run(_ chooser: ScheduleChooser, seed: UInt64?) async -> (ScheduleResult, Bool) {
    let run = ScheduleRun(test, thread)
    run.start()
    return await onOwnThread { [thread] in
      (thread.perform { _ in run.finish(chooser, seed: seed) }, run.hasEnded)
    }
  }
}
