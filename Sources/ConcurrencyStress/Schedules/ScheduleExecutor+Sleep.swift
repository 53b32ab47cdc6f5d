#if os(Linux) && compiler(>=6.3) && compiler(<6.4)
  // `Task.sleep` asks the current executor, if that is a `SchedulingExecutor`; otherwise the time
  // is real, and the job comes back from another thread. The protocol is not public in Swift 6.3.
  @_spi(ExperimentalScheduling) internal import _Concurrency

  extension ScheduleExecutor: SchedulingExecutor {
    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
      sleep(Self.wholeDelay(delay as? Duration ?? .zero), .job(UnownedJob(job)))
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
      // An instant is real time, so that the delay is a little shorter than what was asked for.
      let delay = clock.now.duration(to: instant) as? Duration ?? .zero
      sleep(Self.wholeDelay(delay), .job(UnownedJob(job)))
    }
  }
#endif

extension ScheduleExecutor {
  /// The delay without the time that has passed since it was asked for: rounded up to a full
  /// millisecond, above ten to ten, and above a second to a hundred.
  static func wholeDelay(_ delay: Duration) -> Duration {
    guard delay > .zero else { return .zero }
    // A delay of thirty thousand years and one that is longer end in any order.
    let milliseconds = Int((min(delay.seconds, 1e12) * 1000).rounded(.up))
    let unit = milliseconds <= 10 ? 1 : milliseconds <= 1000 ? 10 : 100
    return .milliseconds((milliseconds + unit - 1) / unit * unit)
  }
}
