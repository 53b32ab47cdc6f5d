/// The processor time that all threads of the process have used, in nanoseconds.
///
/// For work that the runtime spreads over a pool of threads: it counts what the work costs,
/// wherever it runs, and not what others do to the machine meanwhile.
public enum ProcessClock {
  public static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
