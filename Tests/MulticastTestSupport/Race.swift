internal import Synchronization

/// Lets `actors` run against each other, each on its own thread, in many rounds with a new state
/// each.
///
/// The threads meet before each round, and then wait for a few random steps, so that the actors
/// meet in different places. When all are done, one of them looks at the state.
///
/// - Parameters:
///   - rounds: how often.
///   - setUp: makes the state of a round.
///   - actors: what the threads do with it.
///   - outcome: what came of it. Called when the actors of the round are done.
/// - Returns: how often each outcome was seen. The states are gone.
public func race<State: Sendable, Outcome: Hashable & Sendable>(
  rounds: Int,
  setUp: @escaping @Sendable () -> State,
  actors: [@Sendable (State) -> Void],
  outcome: @escaping @Sendable (State) -> Outcome
) -> [Outcome: Int] {
  let course = RaceCourse<State, Outcome>()
  let barrier = StartBarrier(actors.count)
  let seed = SplitMix64.runSeed
  runThreads(actors.count, seconds: 4 * timeLimit) { index in
    var generator = SplitMix64(seed: seed &+ UInt64(index))
    let step = Atomic<Int>(0)
    for _ in 0..<rounds {
      if index == 0 { course.state = setUp() }
      barrier.arriveAndWait()
      for _ in 0..<(generator.next() % 64) { step.add(1, ordering: .relaxed) }
      // No copy of the state outlives the actor: the last reference may be what the race is about.
      course.run(actors[index])
      barrier.arriveAndWait()
      if index == 0 {
        course.outcomes[course.run(outcome), default: 0] += 1
        course.state = nil
      }
    }
  }
  return course.outcomes
}

/// What the threads of a race share.
private final class RaceCourse<State: Sendable, Outcome: Hashable & Sendable>: @unchecked Sendable {
  // Sendable: written by the first thread alone, while the others wait at the barrier.
  var state: State?
  var outcomes: [Outcome: Int] = [:]

  func run<R>(_ body: (State) -> R) -> R {
    body(state!)
  }
}
