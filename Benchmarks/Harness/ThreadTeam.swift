internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// Threads that begin together.
public enum ThreadTeam {
  /// Runs `body` on `count` threads, which start at the same moment on different processors, and
  /// waits for them.
  ///
  /// - Parameter body: what a thread does, given its number, counted from zero.
  /// - Returns: the nanoseconds from the moment the first thread began until the last one ended.
  ///   Creating the threads does not count.
  public static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Int {
    let barrier = StartBarrier(count)
    let members = (0..<count).map { number in
      Member {
        Processor.bindThread(number)
        barrier.wait()
        let start = MonotonicClock.nanoseconds
        body(number)
        return start..<max(start, MonotonicClock.nanoseconds)
      }
    }
    let threads = members.map { $0.start() }
    for thread in threads { pthread_join(thread, nil) }
    let first = members.map(\.interval.lowerBound).min() ?? 0
    let last = members.map(\.interval.upperBound).max() ?? 0
    return last - first
  }
}

/// One thread of a team.
private final class Member: @unchecked Sendable {
  // Sendable: `interval` is written by the thread and read after it was joined.
  private let body: @Sendable () -> Range<Int>
  private(set) var interval = 0..<0

  init(_ body: @escaping @Sendable () -> Range<Int>) {
    self.body = body
  }

  func start() -> pthread_t {
    #if canImport(Darwin) || canImport(Musl)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let error = pthread_create(
      &thread, nil,
      { argument in
        // Optional on some platforms, and so is the result, at which nobody looks.
        let object = (argument as UnsafeMutableRawPointer?)!
        let member = Unmanaged<Member>.fromOpaque(object).takeRetainedValue()
        member.interval = member.body()
        return argument
      }, Unmanaged.passRetained(self).toOpaque())
    precondition(error == 0, "pthread_create failed with error \(error)")
    #if canImport(Darwin) || canImport(Musl)
      return thread!
    #else
      return thread
    #endif
  }
}

/// Holds threads back until all of them are there.
///
/// They spin, because waking a thread takes longer than many a workload.
private final class StartBarrier: Sendable {
  private let missing: Atomic<Int>

  init(_ count: Int) {
    missing = Atomic(count)
  }

  func wait() {
    // Releasing and acquiring: what a thread has prepared is seen by all once they start.
    missing.subtract(1, ordering: .acquiringAndReleasing)
    while missing.load(ordering: .acquiring) > 0 { sched_yield() }
  }
}
