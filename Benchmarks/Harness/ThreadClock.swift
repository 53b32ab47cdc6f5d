/// The processor time that the calling thread has used, in nanoseconds.
///
/// For samples so long that others take the processor away in each of them. It takes a system call,
/// and it does not tell how long a thread has waited: whatever may block is measured by
/// ``MonotonicClock``.
public enum ThreadClock {
  public static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
