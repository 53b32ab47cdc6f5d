import Foundation
import Multicast
import MulticastTestSupport
import Synchronization

/// One scenario on one storage strategy, for some time or some rounds.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class Trial: @unchecked Sendable {
  // Sendable: `failures` is accessed under `lock` only; the rest never changes or is atomic.

  let scenario: any Scenario.Type
  let storage: StorageStrategy
  let threads: Int
  let delegates: Int
  let mix: OperationMix
  /// How many seconds to wait for an event. Less than the watchdog waits.
  let patience: Double
  /// One for each thread, and one more for what else the scenario does.
  let activities: [WorkerActivity]
  /// Counts the delegates and events of the current round.
  let lifetimes = LifetimeTracker()

  private let seed: UInt64
  private let limit: Limit
  private let began = ContinuousClock.now
  private let lock = NSLock()
  private var failures: [String] = []
  private let failed = Atomic(false)
  private let completedRounds = Atomic<Int>(0)

  /// When it is over.
  enum Limit: Sendable {
    case until(ContinuousClock.Instant)
    case rounds(Int)
  }

  init(
    _ scenario: any Scenario.Type, on storage: StorageStrategy, _ options: Options, _ limit: Limit
  ) {
    self.scenario = scenario
    self.storage = storage
    self.limit = limit
    threads = options.threads
    delegates = options.delegates
    mix = options.mix
    patience = options.stall / 2
    // The same for a scenario on a strategy, whatever else runs.
    var mixed = options.seed
    for byte in "\(scenario.name)/\(storage)".utf8 { mixed = mixed &* 31 &+ UInt64(byte) }
    seed = mixed
    activities = (0...max(2, threads)).map { _ in WorkerActivity() }
  }
}

// MARK: - Progress

extension Trial {
  /// The scenario and the strategy, for messages.
  var label: String { "\(scenario.name) on \(storage)" }

  /// Whether no further round begins.
  var isOver: Bool {
    if failed.load(ordering: .relaxed) { return true }
    return switch limit {
    case .until(let deadline): ContinuousClock.now >= deadline && rounds > 0
    case .rounds(let count): rounds >= count
    }
  }

  /// How many rounds were completed.
  var rounds: Int { completedRounds.load(ordering: .relaxed) }

  /// How much of it is done, from 0 to 1.
  var progress: Double {
    let progress =
      switch limit {
      case .until(let deadline):
        deadline > began ? (.now - began).seconds / (deadline - began).seconds : 1
      case .rounds(let count): Double(rounds) / Double(count)
      }
    return min(max(progress, 0), 1)
  }

  func completeRound() { completedRounds.wrappingAdd(1, ordering: .relaxed) }

  /// How many operations the workers have done so far.
  var operations: Int { activities.reduce(0) { $0 + $1.operations } }

  /// Random numbers for a worker, or for setting up (-1), in the current round.
  func generator(for worker: Int) -> SplitMix64 {
    var mixer = SplitMix64(seed: seed &+ UInt64(truncatingIfNeeded: rounds) &* 0x9E37)
    return SplitMix64(seed: mixer.next() &+ UInt64(truncatingIfNeeded: worker))
  }
}

// MARK: - Verdict

extension Trial {
  /// What broke, in the order of its discovery.
  var brokenPromises: [String] { lock.withLock { failures } }

  /// Records a broken promise.
  func fail(_ message: String) {
    let round = rounds
    lock.withLock {
      // The first ones suffice: later ones are mostly consequences.
      if failures.count < 5 { failures.append("\(message) (round \(round))") }
    }
    failed.store(true, ordering: .relaxed)
  }

  /// Records a broken promise unless `condition` holds.
  func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
  }
}
