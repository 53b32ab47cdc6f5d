import Foundation
import MulticastTestSupport

extension Trial {
  /// Lets the workers of a scenario run against each other, each on its own thread, in rounds with
  /// a new state each, until the trial is over.
  ///
  /// The threads meet before each round, and then wait for a few random steps. When all are done,
  /// one of them looks at the state, drops it, and looks whether anything was left alive.
  ///
  /// - Parameters:
  ///   - threads: how many; those of the trial if `nil`.
  ///   - setUp: makes the state of a round.
  ///   - work: what each thread does with it. It must end by itself.
  ///   - check: what must be true of the state when all are done.
  func runRounds<State: Sendable>(
    threads: Int? = nil,
    setUp: @escaping @Sendable (inout SplitMix64) -> State,
    work: @escaping @Sendable (State, inout Worker) -> Void,
    check: @escaping @Sendable (State) -> Void
  ) {
    let course = Course<State>()
    let threads = threads ?? self.threads
    let barrier = MeetingPoint(threads)
    // The watchdog ends the process if a thread is stuck, long before this would.
    runThreads(threads, seconds: .infinity) { index in
      while true {
        if index == 0 {
          var generator = self.generator(for: -1)
          course.state = self.isOver ? nil : setUp(&generator)
        }
        barrier.arriveAndWait()
        guard course.goesOn else { return }
        var worker = Worker(
          index: index, generator: self.generator(for: index), seat: self.seats[index])
        worker.dawdle()
        // No copy of the state outlives the work: the last reference may be what it is about.
        course.run { work($0, &worker) }
        worker.seat.does("meets the others")
        barrier.arriveAndWait()
        if index == 0 {
          course.run(check)
          course.state = nil
          self.checkLifetimes()
          self.completeRound()
        }
      }
    }
  }

  /// Lets other threads run until `condition` holds, and notes a broken promise if it never does.
  ///
  /// - Parameters:
  ///   - what: what has not happened then.
  ///   - patience: after how many seconds; that of the trial if `nil`.
  func wait(
    for what: @autoclosure () -> String, patience: Double? = nil, until condition: () -> Bool
  ) {
    let patience = patience ?? self.patience
    let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
    var looks = 0
    while !condition() {
      guard ContinuousClock.now < deadline else {
        return fail("\(what()) in \(patience.shortened) s")
      }
      // Soon it happens any moment; later it is for others to make it happen.
      looks += 1
      if looks < 100 { sched_yield() } else { usleep(50) }
    }
  }

  /// Notes a broken promise if something is still alive, or was called too late.
  func checkLifetimes() {
    let live = lifetimes.live
    expect(live == 0, "\(live) of \(lifetimes.created) objects were never destroyed")
    let late = lifetimes.lateCalls
    expect(late == 0, "\(late) calls came to a delegate that must not be called any more")
  }
}

/// What the threads of a round share.
private final class Course<State: Sendable>: @unchecked Sendable {
  // Sendable: written by the first thread alone, while the others wait at the barrier.
  var state: State?

  var goesOn: Bool { state != nil }

  func run(_ body: (State) -> Void) {
    body(state!)
  }
}
