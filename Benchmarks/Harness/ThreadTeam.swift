internal import Synchronization

/// Threads that start together.
public enum ThreadTeam {
  /// Runs `body` on `count` threads, which start at the same moment on different processors, and
  /// waits for them.
  ///
  /// - Parameter body: what a thread does, given its number, counted from zero.
  /// - Returns: the nanoseconds from the moment the first thread began until the last one ended.
  ///   Creating the threads does not count.
  public static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Int {
    let barrier = StartBarrier(count)
    let intervals = (0..<count).map { _ in Interval() }
    let threads = intervals.enumerated().map { number, interval in
      JoinableThread {
        Processor.bindThread(number)
        barrier.wait()
        let start = MonotonicClock.nanoseconds
        body(number)
        interval.nanoseconds = start..<max(start, MonotonicClock.nanoseconds)
      }
    }
    for thread in threads { thread.join() }
    let first = intervals.map(\.nanoseconds.lowerBound).min() ?? 0
    let last = intervals.map(\.nanoseconds.upperBound).max() ?? 0
    return last - first
  }
}

/// When one thread of a team worked.
private final class Interval: @unchecked Sendable {
  // Sendable: `nanoseconds` is written by the thread and read after it was joined.
  var nanoseconds = 0..<0
}

/// A barrier that threads pass together, once.
///
/// They spin, because waking a thread takes longer than some workloads.
private final class StartBarrier: Sendable {
  private let missing: Atomic<Int>

  init(_ count: Int) {
    missing = Atomic(count)
  }

  func wait() {
    // Releasing and acquiring: all threads see what each has prepared.
    missing.subtract(1, ordering: .acquiringAndReleasing)
    while missing.load(ordering: .acquiring) > 0 { sched_yield() }
  }
}
