/// Time that never goes back, in nanoseconds since an arbitrary moment.
public enum MonotonicClock {
  public static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  /// Keeps the thread for some nanoseconds, and leaves the processor to others that need it.
  public static func wait(_ nanoseconds: Int) {
    let end = Self.nanoseconds + nanoseconds
    while Self.nanoseconds < end { sched_yield() }
  }
}
