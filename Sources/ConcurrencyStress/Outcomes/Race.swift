internal import Synchronization

/// Runs `actors` against each other, each on its own thread, in many rounds with a new state each.
///
/// The threads meet before each round and then spin for a random number of steps, so that the
/// actors overlap in different ways. When all are done, one thread inspects the state.
///
/// - Parameters:
///   - rounds: the number of rounds.
///   - seed: repeats how the actors are delayed; that of the run if `nil`.
///   - setUp: makes the state of a round.
///   - actors: what the threads do with it.
///   - outcome: the result of a round. Called when its actors are done.
/// - Returns: how often each outcome was seen. The states are gone.
public func race<State: Sendable, Outcome: Hashable & Sendable>(
  rounds: Int,
  seed: UInt64? = nil,
  setUp: @escaping @Sendable () -> State,
  actors: [@Sendable (State) -> Void],
  outcome: @escaping @Sendable (State) -> Outcome
) -> [Outcome: Int] {
  race(
    rounds: rounds, until: nil, seed: seed, setUp: setUp, actors: actors, outcome: outcome)
}

/// - Parameter end: when no further round begins, apart from the first one; never if `nil`.
func race<State: Sendable, Outcome: Hashable & Sendable>(
  rounds: Int,
  until end: ContinuousClock.Instant?,
  seed: UInt64?,
  setUp: @escaping @Sendable () -> State,
  actors: [@Sendable (State) -> Void],
  outcome: @escaping @Sendable (State) -> Outcome
) -> [Outcome: Int] {
  let outcomes = Outcomes<Outcome>()
  let seed = seed ?? SplitMix64.runSeed
  runRounds(
    threads: actors.count, seconds: 4 * timeLimit,
    setUp: { round in
      let isInTime = round == 0 || end.map { .now < $0 } ?? true
      return round < rounds && isInTime ? setUp() : nil
    },
    work: { state, thread, round in
      var generator = SplitMix64(seed: seed &+ UInt64(round * actors.count + thread))
      // Relaxed: it only takes time.
      let step = Atomic<Int>(0)
      for _ in 0..<(generator.next() % 64) { step.add(1, ordering: .relaxed) }
      actors[thread](state)
    },
    check: { outcomes.counts[outcome($0), default: 0] += 1 })
  return outcomes.counts
}

/// How often each outcome was seen.
private final class Outcomes<Outcome: Hashable & Sendable>: @unchecked Sendable {
  // Sendable: changed by the first thread of a race alone, and read when its threads are gone.
  var counts: [Outcome: Int] = [:]
}
