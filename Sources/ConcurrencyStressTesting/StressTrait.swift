public import ConcurrencyStress
public import Testing

/// Repeats a test, each time with another seed, until it fails.
///
/// ```swift
/// @Test(.stress(rounds: 500)) func theCacheKeepsWhatItWasGiven() async {
///   var generator = StressRound.current.generator
///   …
/// }
/// ```
/// The issue of a round that fails names the round and its seed. `.stress(seed:)` repeats only
/// that. A test with a trait of its own does not have that of its suite.
///
/// ## Thread safety
/// A value that never changes.
public struct StressTrait: TestTrait, SuiteTrait, TestScoping {
  let rounds: Int
  let seconds: Double?
  let seed: UInt64?

  /// Whether a suite passes the trait on to its tests: it does.
  public var isRecursive: Bool { true }
}

/// One round of a test with a ``StressTrait``.
///
/// ## Thread safety
/// A value.
public struct StressRound: Sendable {
  /// The number of the round, from 0.
  public let number: Int
  /// Decides the random numbers of the round.
  public let seed: UInt64

  /// Random numbers that are the same for the same seed.
  public var generator: SplitMix64 { SplitMix64(seed: seed) }

  /// The round that is running. Outside of a round: the first one, with the seed of the run.
  @TaskLocal public static var current = StressRound(number: 0, seed: SplitMix64.runSeed)

  /// Whether a round is running.
  @TaskLocal static var isRunning = false
}

extension Trait where Self == StressTrait {
  /// Repeats a test, each time with another seed, until it fails.
  ///
  /// - Parameters:
  ///   - rounds: the number of rounds.
  ///   - seconds: the time after which no further round begins; none if `nil`.
  /// - Returns: the trait.
  public static func stress(rounds: Int, seconds: Double? = nil) -> Self {
    require(rounds > 0, "\(rounds) rounds: a test needs one to run")
    return Self(rounds: rounds, seconds: seconds, seed: nil)
  }

  /// Runs a test once, with the seed that a failing round has reported.
  ///
  /// - Parameter seed: the one that the issue names.
  /// - Returns: the trait.
  public static func stress(seed: UInt64) -> Self {
    Self(rounds: 1, seconds: nil, seed: seed)
  }
}

extension StressTrait {
  /// Runs a test case once for each round, until one fails; Swift Testing calls it.
  ///
  /// - Parameters:
  ///   - test: the test or the suite.
  ///   - testCase: the test case; `nil` for a suite.
  ///   - function: runs the test case.
  /// - Throws: what `function` throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A suite passes the trait on to its tests, of which one may have its own.
    guard testCase != nil, isLast(of: test), !StressRound.isRunning else {
      return try await function()
    }
    let end = seconds.map { ContinuousClock.now.advanced(by: .seconds($0.asWait)) }
    for number in 0..<rounds {
      if number > 0, let end, ContinuousClock.now >= end { return }
      let seed = seed ?? SplitMix64.runSeed &+ UInt64(number)
      let round = StressRound(number: number, seed: seed)
      let failed = Counter()
      try await StressRound.$isRunning.withValue(true) {
        try await StressRound.$current.withValue(round) {
          try await reportFailure(of: function) {
            failed.add()
            Issue.record(
              "round \(number) failed; repeat it with .stress(seed: \(seed))",
              sourceLocation: test.sourceLocation)
          }
        }
      }
      guard failed.value == 0 else { return }
    }
  }

  /// Whether no later trait of this kind, closer to the test, takes its place.
  private func isLast(of test: Test) -> Bool {
    guard let last = test.traits.last(where: { $0 is Self }) as? Self else { return true }
    return last.rounds == rounds && last.seconds == seconds && last.seed == seed
  }
}

/// Runs `function`. Its issues are recorded, and its error is thrown, as without this.
///
/// - Parameter onFailure: called if there was one, before the error is thrown.
func reportFailure(
  of function: @concurrent @Sendable () async throws -> Void, _ onFailure: () -> Void
) async throws {
  let failures = Counter()
  defer { if failures.value > 0 { onFailure() } }
  try await withKnownIssue(isIntermittent: true) {
    try await function()
  } when: {
    true
  } matching: { issue in
    #if compiler(>=6.3)
      if issue.isFailure { failures.add() }
    #else
      failures.add()
    #endif
    return false
  }
}
