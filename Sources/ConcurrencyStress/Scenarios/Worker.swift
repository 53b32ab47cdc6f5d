/// One thread of a scenario, in one round.
///
/// ## Thread safety
/// A value of one thread.
public struct Worker {
  /// The number of the thread, from 0.
  public let index: Int
  /// Gives the same numbers for the same seed, scenario, variant, round and worker.
  public var generator: SplitMix64
  /// What the watchdog reads.
  public let activity: WorkerActivity

  /// Records the next operation for the watchdog, and counts it.
  ///
  /// - Parameter step: what the watchdog prints if it is the last one.
  public func begin(_ step: StaticString) {
    activity.begin(step)
  }

  /// A number from 0 to `bound` - 1.
  ///
  /// - Parameter bound: how many numbers there are.
  /// - Returns: the number.
  /// - Precondition: `bound` is above 0.
  public mutating func pick(_ bound: Int) -> Int {
    require(bound > 0, "pick(\(bound)): there is no number below 1 to pick")
    return Int(generator.next() % UInt64(bound))
  }

  /// `true` with a probability of one in `count`.
  ///
  /// - Parameter count: the mean number of calls for one `true`.
  /// - Returns: `true` or `false`.
  public mutating func once(in count: Int) -> Bool {
    pick(count) == 0
  }

  /// Spins for a random number of steps, so that threads overlap in different ways.
  ///
  /// - Parameter steps: one more than the most steps.
  public mutating func spin(upTo steps: Int = 64) {
    var left = pick(steps)
    while left > 0 {
      activity.add(0)  // An atomic operation, which the compiler keeps.
      left -= 1
    }
  }
}
