internal import Foundation

extension Trial {
  /// Runs rounds of a scenario, each with a worker per thread, until the trial is over.
  ///
  /// The workers of a round start together and then spin for a random number of steps. After each
  /// round, one thread checks it, releases it, and checks that nothing was left alive.
  ///
  /// - Parameters:
  ///   - threads: the number of threads, at most one above ``threads``; that of the trial if `nil`.
  ///   - setUp: makes a round.
  /// - Precondition: `threads` is at most one above ``threads``, or 3.
  public func runRounds<Round: ScenarioRound>(
    threads: Int? = nil, setUp: @escaping @Sendable (inout SplitMix64) -> Round
  ) {
    let threads = threads ?? self.threads
    require(
      threads <= activities.count,
      "\(threads) threads in a round of a trial with \(self.threads): use at most one more")
    ConcurrencyStress.runRounds(
      threads: threads,
      seconds: .infinity,  // The watchdog ends the process if a thread is stuck.
      setUp: { _ in
        var generator = self.generator(for: -1)
        return self.isOver ? nil : setUp(&generator)
      },
      work: { (round: Round, thread, _) in
        var worker = Worker(
          index: thread, generator: self.generator(for: thread), activity: self.activities[thread])
        worker.spin()
        round.work(&worker)
        worker.begin("meets the others")
      },
      check: { $0.check() },
      tearDown: {
        self.checkLifetimes()
        self.completeRound()
      })
  }

  /// Yields to other threads until `condition` holds, and records a broken promise if it never
  /// does.
  ///
  /// - Parameters:
  ///   - what: what has not happened then.
  ///   - patience: how many seconds to wait; as long as the trial says if `nil`.
  ///   - condition: what to wait for.
  public func wait(
    for what: @autoclosure () -> String, patience: Double? = nil, until condition: () -> Bool
  ) {
    let patience = patience ?? self.patience
    let deadline = ContinuousClock.now.advanced(by: .seconds(patience.asWait))
    var polls = 0
    while !condition() {
      guard ContinuousClock.now < deadline else {
        return fail("\(what()) in \(patience.shortened) s")
      }
      // Most conditions come true at once. The rest need the processor for other threads.
      polls += 1
      if polls < 100 { sched_yield() } else { usleep(50) }
    }
  }

  /// Records a broken promise if something is still alive, or was called too late.
  public func checkLifetimes() {
    let live = lifetimes.live
    expect(live == 0, "\(live) of \(lifetimes.created) objects were never destroyed")
    let late = lifetimes.lateCalls
    expect(late == 0, "\(late) calls came to a delegate that must not be called any more")
  }
}
