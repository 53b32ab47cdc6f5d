/// Runs threads against each other in rounds, each with a new state, until `setUp` returns `nil`.
///
/// The threads meet before and after the work of each round. The first thread does everything else.
///
/// - Parameters:
///   - threads: the number of threads.
///   - seconds: how long the threads may take. The trap says which of them are at work.
///   - setUp: makes the state of the round with this number, counted from 0.
///   - work: what each thread does, given its index and the number of the round.
///   - check: inspects the state when all threads are done with it.
///   - tearDown: runs when the state has been released.
public func runRounds<State: Sendable>(
  threads: Int, seconds: Double,
  setUp: @escaping @Sendable (_ round: Int) -> State?,
  work: @escaping @Sendable (State, _ thread: Int, _ round: Int) -> Void,
  check: @escaping @Sendable (State) -> Void,
  tearDown: @escaping @Sendable () -> Void = {}
) {
  let shared = RoundState<State>()
  let barrier = StartBarrier(threads, seconds: .infinity)  // The threads have a time limit.
  let activities = (0..<threads).map { _ in WorkerActivity() }
  runThreads(threads, seconds: seconds, activities: activities) { thread in
    var timer = StopTimer()
    var round = 0
    while true {
      if thread == 0 { shared.state = setUp(round) }
      barrier.arriveAndWait()
      guard shared.hasState else { return }
      // No copy of the state outlives the work: the last reference may be what the race is about.
      activities[thread].begin("works")
      timer.mayStop {
        shared.withState { work($0, thread, round) }
      }
      activities[thread].begin("waits for the others")
      barrier.arriveAndWait()
      if thread == 0 {
        shared.withState(check)
        shared.state = nil
        tearDown()
      }
      round += 1
    }
  }
}

/// What the threads of a round share.
private final class RoundState<State: Sendable>: @unchecked Sendable {
  // Sendable: written by the first thread alone, while the others wait at the barrier.
  var state: State?

  var hasState: Bool { state != nil }

  func withState(_ body: (State) -> Void) {
    body(state!)
  }
}
