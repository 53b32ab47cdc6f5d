/// A test that runs tasks one at a time, in many orders.
///
/// The body, the tasks that it starts, and the actors that these call run on one thread. Wherever a
/// task suspends, the schedule chooses which one goes on: at random, by priorities, or each choice
/// once. The same seed makes the same choices, so that a schedule that fails is repeated exactly.
///
/// ```swift
/// try ScheduleTest { schedule in
///   let account = Account(balance: 100)
///   async let first: Void = account.withdraw(80)
///   async let second: Void = account.withdraw(80)
///   _ = await (first, second)
///   let balance = await account.balance
///   schedule.expect(balance >= 0, "the balance is \(balance)")
/// }.check(schedules: 1_000)
/// ```
///
/// A schedule fails if the body throws or reports something to its ``Schedule``; if the body waits
/// for ever; if there are more steps than `stepLimit`; or if an object that ``Schedule/lifetimes``
/// counts is left. A task that the body does not wait for may wait for ever: let it count an
/// object.
///
/// The main actor, actors with an executor of their own, and threads that the code starts are not
/// scheduled: the test waits for them, and says so if a schedule that fails used them.
///
/// ## Thread safety
/// A value. Schedules run on a thread of their own, and the caller waits; several tests may run at
/// once.
public struct ScheduleTest: Sendable {
  /// How the next job is chosen.
  public let order: ScheduleOrder
  let stepLimit: Int
  let patience: Double
  let body: @Sendable (Schedule) async throws -> Void

  /// Creates a test of what `body` does.
  ///
  /// - Parameters:
  ///   - order: how the next job is chosen.
  ///   - stepLimit: the number of steps above which a schedule counts as endless.
  ///   - patience: how many seconds to wait for another thread if no task can run, before that
  ///     counts as a deadlock.
  ///   - body: what the first task does.
  public init(
    order: ScheduleOrder = .random, stepLimit: Int = 100_000, patience: Double = 1,
    _ body: @escaping @Sendable (Schedule) async throws -> Void
  ) {
    require(stepLimit > 0, "a step limit of \(stepLimit) allows no step")
    if case .priorities(let preemptions) = order {
      require(
        preemptions >= 0, "\(preemptions) preemptions: 0 or more are possible in a schedule")
    }
    self.order = order
    self.stepLimit = stepLimit
    self.patience = patience
    self.body = body
  }
}

/// What a ``ScheduleTest`` found.
///
/// ## Thread safety
/// A value.
public struct ScheduleReport: Sendable, CustomStringConvertible {
  /// How many schedules ran.
  public let schedules: Int
  /// Whether there is no other schedule.
  public let isComplete: Bool
  /// The schedule that failed.
  public let failure: Failure?

  /// A schedule that failed.
  public struct Failure: Sendable, Equatable {
    /// What broke.
    public let messages: [String]
    /// What ``ScheduleTest/replay(seed:)`` repeats, or `nil` if each choice was tried once.
    public let seed: UInt64?
    /// The choice at each step: what ``ScheduleTest/replay(choices:)`` repeats.
    public let choices: [Int]
    /// The whole report.
    public let text: String
  }

  /// Whether no schedule failed.
  public var held: Bool { failure == nil }

  /// The result in words, with the steps of the schedule that failed.
  public var description: String {
    failure?.text ?? "\(schedules.grouped) schedules held\(isComplete ? ": all there are" : "")"
  }
}
