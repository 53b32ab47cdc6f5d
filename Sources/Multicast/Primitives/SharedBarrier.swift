// The heavy barrier, which concurrent callers share.
//
// The system runs one heavy barrier at a time and interrupts every running thread for it. A caller
// that finds others yields to them, so that one barrier begins after all of them have asked:
//
//     caller                                   the caller that passes for all
//     write; requested += 1                    covered = requested
//     yield until passed ≥ its own request     heavy barrier
//     …                                        passed = covered
//
// The counts are guarded by a lock, so what a caller wrote before its request happened before the
// barrier, and the barrier before the caller continues.

internal import CMulticast
internal import Dispatch

/// The wait of one caller for a heavy barrier that begins after its request.
///
/// A single caller makes it at once. Each of many concurrent callers waits until a barrier that
/// began after its request is over, or no further caller came for a while; then it makes the
/// barrier for all. A task waits by yielding. Of the threads that block, the newest yields, and
/// then sleeps for 50 microseconds at a time; the others wait for a semaphore.
///
/// ## Thread safety
/// May be called from any thread, but not inside a critical section.
struct SharedBarrier {
  /// The number of requests, including this one.
  private let request: Int
  /// The number of requests at the last check, and when that number changed.
  private var seen: Int
  private var seenSince: UInt64
  private let began: UInt64
  /// The yields since the number changed.
  private var yields = 0

  static func pass() {
    cmulticast_barrier_prepare()
    #if canImport(Darwin)
      var caller = SharedBarrier(UInt(bitPattern: pthread_self()))
    #else
      var caller = SharedBarrier(UInt(pthread_self()))
    #endif
    while !caller.isDone() {
      // Only the newest caller polls.
      if let passed = caller.semaphoreUnlessNewest() {
        _ = passed.wait(timeout: .now() + .nanoseconds(Int(Self.patience)))
      } else if caller.yields < 4 {
        sched_yield()
      } else {
        // For the sake of threads that are not scheduled, or have a lower priority.
        usleep(50)
      }
    }
  }

  /// Makes a barrier, and waits for no other caller.
  static func passAtOnce() {
    cmulticast_barrier_prepare()
    cmulticast_barrier_heavy()
  }

  static func passWithoutBlocking() async {
    cmulticast_barrier_prepare()
    var caller = SharedBarrier(TaskIdentity.current.rawValue)
    while !caller.isDone() { await Task.yield() }
  }
}

extension SharedBarrier {
  private struct State {
    /// Requests so far.
    var requested = 0
    /// The task or thread of the last request, and its time in nanoseconds.
    var latestCaller: UInt = 0
    var latest: UInt64 = 0
    /// The number of requests of different callers that followed each other closely.
    var burst = 0
    /// The requests that a barrier has covered.
    var passed = 0
    /// The number of callers that are expected to share the next barrier: as many as shared the
    /// last one, or half as many as were expected then.
    var expected = 0
    var isRunning = false
    /// Signalled when a barrier has ended.
    var waiters: [DispatchSemaphore] = []
    /// When the last barrier ended, in nanoseconds.
    var ended: UInt64 = 0
  }

  /// Guards `state`. No user code runs inside, and no barrier.
  private static let lock = Lock()
  // SAFETY: accessed inside `lock` alone.
  private nonisolated(unsafe) static var state = State()

  /// For how long no further caller must have come, for each caller that there is: in nanoseconds.
  private static var quietPerCaller: UInt64 { 20_000 }
  /// The least such time in a burst: a task that starts callers may be interrupted.
  private static var quietInBurst: UInt64 { 1_000_000 }
  /// The largest number of callers that this is multiplied with.
  private static var mostCallers: Int { 200 }
  /// The longest time that a caller waits for further ones.
  static var patience: UInt64 { 50_000_000 }
  /// For how long the number of callers that shared a barrier is expected to come again, for each
  /// of them. Longer than they need on an idle machine: others may have the processor between two.
  private static var memoryPerCaller: UInt64 { 500_000 }
  /// The least such time.
  private static var leastMemory: UInt64 { 2_000_000 }
  /// The longest time between two requests of a burst.
  private static var burstGap: UInt64 { 500_000 }
  /// The requests of a burst after which more are expected.
  private static var leastBurst: Int { 3 }
  /// The yields without a further caller, in case the processor was busy in the meantime.
  private static var leastYields: Int { 8 }

  /// - Parameter caller: tells the callers of one moment apart.
  private init(_ caller: UInt) {
    let now = cmulticast_monotonic_nanoseconds()
    began = now
    seenSince = now
    request = Self.lock.withLock {
      // A caller that asks again and again is no burst.
      if now > Self.state.latest &+ Self.burstGap {
        Self.state.burst = 1
      } else if caller != Self.state.latestCaller {
        Self.state.burst += 1
      }
      Self.state.latest = now
      Self.state.latestCaller = caller
      Self.state.requested += 1
      return Self.state.requested
    }
    seen = request
  }

  /// Makes the barrier if that is up to this caller.
  ///
  /// - Returns: whether a barrier that began after the request is over.
  private mutating func isDone() -> Bool {
    let now = cmulticast_monotonic_nanoseconds()
    let (isPassed, covered) = Self.lock.withLock { () -> (Bool, Int?) in
      if Self.state.passed >= request { return (true, nil) }
      if Self.state.requested != seen {
        seen = Self.state.requested
        seenSince = now
        yields = 0
      }
      guard !Self.state.isRunning, isComplete(now) else { return (false, nil) }
      Self.state.isRunning = true
      return (false, Self.state.requested)
    }
    yields += 1
    guard let covered else { return isPassed }
    cmulticast_barrier_heavy()
    let ended = cmulticast_monotonic_nanoseconds()
    let waiters = Self.lock.withLock {
      Self.state.expected = max(covered - Self.state.passed, Self.expectedCallers(ended) / 2)
      Self.state.passed = covered
      Self.state.isRunning = false
      Self.state.ended = ended
      let waiters = Self.state.waiters
      Self.state.waiters = []
      return waiters
    }
    for waiter in waiters { waiter.signal() }
    return true
  }

  /// Signalled by the next barrier; `nil` if no further caller has come, or a barrier has passed.
  private func semaphoreUnlessNewest() -> DispatchSemaphore? {
    Self.lock.withLock {
      guard Self.state.passed < request, Self.state.requested != request else { return nil }
      let semaphore = DispatchSemaphore(value: 0)
      Self.state.waiters.append(semaphore)
      return semaphore
    }
  }

  /// The number of callers that are expected because of earlier barriers. Inside the lock.
  private static func expectedCallers(_ now: UInt64) -> Int {
    let callers = UInt64(min(state.expected, mostCallers))
    let memory = max(leastMemory, callers * memoryPerCaller)
    // The clocks of two threads may be read in another order than the lock is taken.
    return now < state.ended &+ memory ? state.expected : 1
  }

  /// Whether no further caller is expected. Inside the lock.
  private func isComplete(_ now: UInt64) -> Bool {
    let callers = max(
      Self.state.requested - Self.state.passed, Self.expectedCallers(now),
      Self.state.burst >= Self.leastBurst ? Self.state.burst : 1)
    if callers == 1 { return true }
    if now > began &+ Self.patience { return true }
    let quiet = max(
      UInt64(min(callers, Self.mostCallers)) * Self.quietPerCaller,
      Self.state.burst >= Self.leastBurst ? Self.quietInBurst : 0)
    return yields >= Self.leastYields && now > seenSince &+ quiet
  }
}
