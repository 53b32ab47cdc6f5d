/// Runs schedules whose first task inherits the task-local values of the caller.
package struct ScheduleRunner: Sendable {
  private let test: ScheduleTest
  private let thread = ScheduleThread()
  /// The number of steps of a first run, on which priorities depend; `nil` before it.
  private var steps: Int?

  package init(order: ScheduleOrder, _ body: @escaping @Sendable (Schedule) async throws -> Void) {
    test = ScheduleTest(order: order, body)
  }

  /// How a schedule failed.
  package struct Failure: Sendable {
    package let text: String
    /// Whether the body has returned or thrown.
    package let hasEnded: Bool
  }

  /// Runs the schedule with this seed, and returns how it, or the first run before it, failed.
  package mutating func run(seed: UInt64) async -> Failure? {
    if steps == nil, case .priorities = test.order {
      let (first, hasEnded) = await run(ScheduleChooser(choices: []), seed: nil)
      if let failure = failure(of: first, seed: nil, hasEnded) { return failure }
      steps = first.decisions.count
    }
    let chooser = ScheduleChooser(test.order, seed: seed, steps: steps ?? 0)
    let (result, hasEnded) = await run(chooser, seed: seed)
    return failure(of: result, seed: seed, hasEnded)
  }

  private func failure(of result: ScheduleResult, seed: UInt64?, _ hasEnded: Bool) -> Failure? {
    guard !result.messages.isEmpty else { return nil }
    // Not run twice: that would record its issues twice.
    let text = result.failure(of: test.order, seed: seed, again: result).text
    return Failure(text: text, hasEnded: hasEnded)
  }

  private func run(_ chooser: ScheduleChooser, seed: UInt64?) async -> (ScheduleResult, Bool) {
    let run = ScheduleRun(test, thread)
    run.start()
    return await onOwnThread { [thread] in
      (thread.perform { _ in run.finish(chooser, seed: seed) }, run.hasEnded)
    }
  }
}
