public import ConcurrencyStress
public import Testing

/// Runs a test as a ``ScheduleTest``: its tasks run one at a time, in many orders.
///
/// ```swift
/// @Test(.schedules(1_000)) func withdrawalsNeverOverdraw() async {
///   let account = Account(balance: 100)
///   async let first: Void = account.withdraw(80)
///   async let second: Void = account.withdraw(80)
///   _ = await (first, second)
///   #expect(await account.balance >= 0)
/// }
/// ```
/// The issue of a schedule that fails names its seed. `.schedules(seed:)` repeats only that. The
/// test function must not be isolated to the main actor. If it waits for ever, and also when it is
/// cancelled, the process ends with the report. A test with a trait of its own does not have that
/// of its suite.
///
/// ## Thread safety
/// A value that never changes.
public struct ScheduleTrait: TestTrait, SuiteTrait, TestScoping {
  let schedules: Int
  let order: ScheduleOrder
  let seed: UInt64?

  /// Whether a suite passes the trait on to its tests: it does.
  public var isRecursive: Bool { true }

  /// The schedule in which the test runs, for its clock and its notes; `nil` outside of one.
  @TaskLocal public static var current: Schedule?
}

extension Trait where Self == ScheduleTrait {
  /// Runs a test under this number of schedules, until one fails.
  ///
  /// - Parameters:
  ///   - count: the number of schedules.
  ///   - order: how the next job is chosen.
  /// - Returns: the trait.
  public static func schedules(_ count: Int, order: ScheduleOrder = .random) -> Self {
    require(count > 0, "\(count) schedules: a test needs one to run")
    return Self(schedules: count, order: order, seed: nil)
  }

  /// Runs a test once, with the seed that a failing schedule has reported.
  ///
  /// - Parameters:
  ///   - seed: the seed.
  ///   - order: that of the test that failed.
  /// - Returns: the trait.
  public static func schedules(seed: UInt64, order: ScheduleOrder = .random) -> Self {
    Self(schedules: 1, order: order, seed: seed)
  }
}

extension ScheduleTrait {
  /// Runs a test case once for each schedule, until one fails; Swift Testing calls it.
  ///
  /// - Parameters:
  ///   - test: the test or the suite.
  ///   - testCase: the test case; `nil` for a suite.
  ///   - function: runs the test case.
  /// - Throws: what `function` throws for a suite.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A suite passes the trait on to its tests, of which one may have its own.
    guard testCase != nil, isLast(of: test), Self.current == nil else {
      return try await function()
    }
    // The function does not outlive this call: each schedule ends before.
    await withoutActuallyEscaping(function) { function in
      // Cleared at the end: closures that threads release a little later refer to the box alone.
      let box = Holder<@concurrent @Sendable () async throws -> Void>(function)
      defer { box.value = nil }
      var runner = ScheduleRunner(order: order) { schedule in
        try await Self.$current.withValue(schedule) {
          try await reportFailure(of: { try await box.value?() }) {
            schedule.fail("an issue was recorded")
          }
        }
      }
      let first = seed ?? SplitMix64.runSeed
      for number in 0..<schedules {
        let own = first &+ UInt64(number)
        guard let failure = await runner.run(seed: own) else { continue }
        let order = order == .random ? "" : ", order: .\(order)"
        let message = "\(failure.text)\nin the test: .schedules(seed: \(own)\(order))"
        Issue.record("\(message)", sourceLocation: test.sourceLocation)
        // The task would use the function after its end.
        guard failure.hasEnded else { fatalError("a test waits for ever\n\(message)") }
        return
      }
    }
  }

  /// Whether no later trait of this kind, closer to the test, takes its place.
  private func isLast(of test: Test) -> Bool {
    guard let last = test.traits.last(where: { $0 is Self }) as? Self else { return true }
    return last.schedules == schedules && last.order == order && last.seed == seed
  }
}
