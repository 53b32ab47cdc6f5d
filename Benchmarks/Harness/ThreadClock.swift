/// The processor time that the calling thread has used, in nanoseconds.
///
/// For samples so long that each of them is preempted. It takes a system call, and does not include
/// the time in which a thread waits: ``MonotonicClock`` measures what may block.
public enum ThreadClock {
  public static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
