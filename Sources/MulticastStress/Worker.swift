import MulticastTestSupport

/// One thread of a scenario, in one round.
struct Worker {
  let index: Int
  /// Gives the same numbers for the same seed, scenario, strategy, round and worker.
  var generator: SplitMix64
  let activity: WorkerActivity

  /// Records the next operation for the watchdog, and counts it.
  func does(_ step: StaticString) {
    activity.does(step)
  }

  /// A number from 0 to `bound` - 1.
  mutating func pick(_ bound: Int) -> Int {
    Int(generator.next() % UInt64(bound))
  }

  /// `true` with a probability of one in `count`.
  mutating func once(in count: Int) -> Bool {
    pick(count) == 0
  }

  /// Spins for a random number of steps, so that threads overlap in different ways.
  mutating func spin(upTo steps: Int = 64) {
    var left = pick(steps)
    while left > 0 {
      activity.add(0)  // An atomic operation, which the compiler keeps.
      left -= 1
    }
  }
}
