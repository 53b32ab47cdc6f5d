internal import Foundation
internal import Synchronization

/// One scenario on one variant of the code under test, for some time or some rounds.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class Trial: @unchecked Sendable {
  // Sendable: `failures` is accessed under `lock` only; the rest never changes or is atomic.

  /// The scenario.
  public let scenario: StressScenario
  /// The variant of the code under test, or `nil` if the program has none.
  public let variant: String?
  /// The number of threads that the command line asks for.
  public let threads: Int
  /// What the command line asks for.
  public let options: StressOptions
  /// How many seconds to wait for an event. Less than the watchdog waits.
  public let patience: Double
  /// One for each thread, and one more for what else the scenario does.
  public let activities: [WorkerActivity]
  /// Counts the objects of the current round.
  public let lifetimes = LifetimeTracker()

  private let seed: UInt64
  private let limit: Limit
  private let began = ContinuousClock.now
  private let lock = NSLock()
  private var failures: [String] = []
  // Relaxed, as is `completedRounds`: they carry no data. Where the rounds of several threads must
  // agree, the threads meet at a barrier.
  private let failed = Atomic(false)
  private let completedRounds = Atomic<Int>(0)

  /// When a trial is over.
  public enum Limit: Sendable {
    /// At this instant, but not before the first round.
    case until(ContinuousClock.Instant)
    /// After this number of rounds.
    case rounds(Int)
  }

  /// Creates a trial of one scenario.
  ///
  /// - Parameters:
  ///   - scenario: the scenario.
  ///   - variant: the variant of the code under test.
  ///   - options: the number of threads, the seed, the patience and the options of the program.
  ///   - limit: when the trial is over.
  public init(
    _ scenario: StressScenario, variant: String? = nil, _ options: StressOptions, _ limit: Limit
  ) {
    self.scenario = scenario
    self.variant = variant
    self.limit = limit
    self.options = options
    threads = options.threads
    patience = options.stall / 2
    // The same for a scenario on a variant, whatever else runs.
    var mixed = options.seed
    for byte in "\(scenario.name)/\(variant ?? "")".utf8 { mixed = mixed &* 31 &+ UInt64(byte) }
    seed = mixed
    activities = (0...max(2, threads)).map { _ in WorkerActivity() }
  }
}

// MARK: - Progress

extension Trial {
  /// The scenario and the variant, for messages.
  public var label: String { variant.map { "\(scenario.name) on \($0)" } ?? scenario.name }

  /// Whether no further round begins: the time or the rounds are over, a promise broke, or the
  /// program is asked to end.
  public var isOver: Bool {
    if failed.load(ordering: .relaxed) || Interruption.isRequested { return true }
    return switch limit {
    case .until(let deadline): ContinuousClock.now >= deadline && rounds > 0
    case .rounds(let count): rounds >= count
    }
  }

  /// How many rounds were completed.
  public var rounds: Int { completedRounds.load(ordering: .relaxed) }

  /// How much of the trial is done, from 0 to 1.
  public var progress: Double {
    let progress =
      switch limit {
      case .until(let deadline):
        deadline > began ? (.now - began).seconds / (deadline - began).seconds : 1
      case .rounds(let count): count > 0 ? Double(rounds) / Double(count) : 1
      }
    return min(max(progress, 0), 1)
  }

  /// Counts a round.
  public func completeRound() { completedRounds.wrappingAdd(1, ordering: .relaxed) }

  /// How many operations the workers have done so far.
  public var operations: Int { activities.reduce(0) { $0 + $1.operations } }

  /// Random numbers for a worker, or for setting up (-1), in the current round.
  ///
  /// - Parameter worker: the index of the worker, or -1.
  /// - Returns: a generator that gives the same numbers for the same seed and round.
  public func generator(for worker: Int) -> SplitMix64 {
    var mixer = SplitMix64(seed: seed &+ UInt64(truncatingIfNeeded: rounds) &* 0x9E37)
    return SplitMix64(seed: mixer.next() &+ UInt64(truncatingIfNeeded: worker))
  }
}

// MARK: - Verdict

extension Trial {
  /// What broke, in the order of its discovery: the first five.
  public var brokenPromises: [String] { lock.withLock { failures } }

  /// Records a broken promise, which ends the trial.
  ///
  /// - Parameter message: what broke, in a sentence without a full stop.
  public func fail(_ message: String) {
    let round = rounds
    lock.withLock {
      // The first ones suffice: later ones are mostly consequences.
      if failures.count < 5 { failures.append("\(message) (round \(round))") }
    }
    failed.store(true, ordering: .relaxed)
  }

  /// Records a broken promise unless `condition` holds.
  ///
  /// - Parameters:
  ///   - condition: what must hold.
  ///   - message: what broke; read only if it does not hold.
  public func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
  }
}
