internal import Foundation
internal import Synchronization

/// Stops the thread that made it for a moment, at random instants, so that other threads run in the
/// middle of what it does.
///
/// Threads that share a processor, with each other or with other programs, take turns of
/// milliseconds: a race of a hundred instructions between them does not show in a minute. So a
/// timer sends a signal to the thread, and the handler of the signal sleeps.
///
/// The signal is `SIGURG`, which a process ignores by default. A process that handles it itself is
/// never stopped, nor is one without glibc: POSIX has no timer that sends a signal to one thread.
struct StopTimer: ~Copyable {
  #if canImport(Glibc)
    // Optional: the first timer of a process is 0, which Swift reads as `nil`.
    private var timer: timer_t?
    private let exists: Bool
    /// Before this instant the thread does not stop again.
    private var next = ContinuousClock.now

    /// A timer for this thread, which must be one of ours: it receives the signal from now on.
    init() {
      var event = sigevent()
      event.sigev_notify = Int32(SIGEV_THREAD_ID)
      event.sigev_signo = SIGURG
      event._sigev_un._tid = Self.currentThread
      exists = Self.isHandled && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
      guard exists else { return }
      // Threads of Dispatch block signals, and so do those that they create.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGURG)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    deinit { if exists { timer_delete(timer) } }

    /// Calls `body`, in which the thread may stop within 1 ms, for some 50 us.
    mutating func mayStop(_ body: () -> Void) {
      guard exists, ContinuousClock.now >= next else { return body() }
      let shortest = Self.shortest.load(ordering: .relaxed)
      let longest = max(Self.longest.load(ordering: .relaxed), shortest)
      let time = Int.random(in: shortest...longest)
      set(time)
      let isEarly = !isSet
      body()
      let isLate = set(0)
      // Wider, so that each part of a call gets its turn, but not by much.
      Self.shortest.store(
        isEarly ? (shortest + time) / 2 : max(shortest - shortest / 32, 1), ordering: .relaxed)
      Self.longest.store(
        isLate ? (longest + time) / 2 : min(longest + longest / 32 + 1, 1_000_000),
        ordering: .relaxed)
      // Most of the time threads run at full speed, which other races need. Not always as long: the
      // threads of a round do not stop together.
      next = .now + .microseconds(Int.random(in: 100...300))
    }

    /// After how many nanoseconds a signal comes in the middle of a call, about. All timers learn
    /// it: some machines need 2 us for a signal, others 15 us, and calls take different times.
    // Relaxed: a wrong time costs a stop.
    private static let shortest = Atomic<Int>(1_000)
    private static let longest = Atomic<Int>(50_000)

    /// - Parameter nanoseconds: when the thread stops; never if 0.
    /// - Returns: whether a stop was still to come.
    @discardableResult
    private func set(_ nanoseconds: Int) -> Bool {
      var (time, rest) = (itimerspec(), itimerspec())
      time.it_value.tv_nsec = numericCast(nanoseconds)
      timer_settime(timer, 0, &time, &rest)
      return rest.it_value.tv_nsec > 0
    }

    /// Whether a stop is still to come.
    private var isSet: Bool {
      var rest = itimerspec()
      timer_gettime(timer, &rest)
      return rest.it_value.tv_nsec > 0
    }

    /// The number that the kernel gives this thread; 0, which no timer accepts, if it is unknown.
    private static var currentThread: Int32 {
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
        // Such as `17/task/18`.
        let count = readlink("/proc/thread-self", buffer.baseAddress!, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return path.split(separator: "/").last.flatMap { Int32($0) } ?? 0
      }
    }

    /// Whether the signal has the handler that stops a thread.
    private static let isHandled: Bool = {
      var (action, previous) = (sigaction(), sigaction())
      guard sigaction(SIGURG, nil, &previous) == 0, previous.__sigaction_handler.sa_handler == nil
      else { return false }
      action.__sigaction_handler.sa_handler = stop
      // A system call that waits goes on waiting.
      action.sa_flags = Int32(SA_RESTART) | Int32(SA_ONSTACK)
      return sigaction(SIGURG, &action, nil) == 0
    }()

    /// Calls async-signal-safe functions only.
    private static let stop: @convention(c) (Int32) -> Void = { _ in
      let error = errno
      var time = timespec(tv_sec: 0, tv_nsec: 1)  // The kernel adds 50 us.
      nanosleep(&time, nil)
      errno = error
    }
  #else
    /// Calls `body`.
    mutating func mayStop(_ body: () -> Void) { body() }
  #endif
}
