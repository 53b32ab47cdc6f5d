/// The processor time that all threads of the process have used, in nanoseconds.
///
/// For work that the runtime spreads over a pool of threads: it counts the cost of the work on all
/// threads, and not that of other processes.
public enum ProcessClock {
  public static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
