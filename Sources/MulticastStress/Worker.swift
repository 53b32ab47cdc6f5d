import MulticastTestSupport

/// One thread of a scenario, in one round.
struct Worker {
  let index: Int
  /// Gives the same numbers for the same seed, scenario, strategy, round and worker.
  var generator: SplitMix64
  let seat: Seat

  /// Says what comes next, for the watchdog, and counts it.
  func does(_ step: StaticString) {
    seat.does(step)
  }

  /// A number from 0 to `bound` - 1.
  mutating func pick(_ bound: Int) -> Int {
    Int(generator.next() % UInt64(bound))
  }

  /// `true` once in `count` times.
  mutating func once(in count: Int) -> Bool {
    pick(count) == 0
  }

  /// Does nothing for a moment, so that threads meet in different places.
  mutating func dawdle(upTo steps: Int = 64) {
    var left = pick(steps)
    while left > 0 {
      seat.add(0)  // An atomic operation, which the compiler keeps.
      left -= 1
    }
  }
}
