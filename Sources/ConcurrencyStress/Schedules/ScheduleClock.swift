internal import Foundation

/// A clock whose time passes only when no task of the schedule has anything else to do.
///
/// It reads no real time, so a schedule with sleeping tasks takes no time and is repeated exactly.
/// For a task that outlives its schedule, time is real from the end on.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public struct ScheduleClock: Clock {
  /// A moment, counted from the start of the schedule.
  public struct Instant: InstantProtocol {
    /// The time since the start of the schedule.
    public let offset: Swift.Duration

    /// The moment that is `duration` later.
    ///
    /// - Parameter duration: may be negative.
    /// - Returns: the moment.
    public func advanced(by duration: Swift.Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// The time from this moment to another.
    ///
    /// - Parameter other: the other moment.
    /// - Returns: the time; negative if `other` is earlier.
    public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    /// Compares two moments.
    ///
    /// - Parameters:
    ///   - left: a moment.
    ///   - right: another moment.
    /// - Returns: whether `left` is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  let executor: ScheduleExecutor

  /// The moment now. It changes only when every task of the schedule sleeps or waits.
  public var now: Instant { Instant(offset: executor.now) }
  /// A nanosecond.
  public var minimumResolution: Swift.Duration { .nanoseconds(1) }

  /// Suspends until the time of the schedule is `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: the moment; one in the past ends the wait at once.
  ///   - tolerance: without effect: the time is exact.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
    let sleep = ClockSleep()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleep.begin(continuation, on: executor, for: now.duration(to: deadline))
      }
    } onCancel: {
      sleep.cancel(on: executor)
    }
    try Task.checkCancellation()
  }
}

/// One use of ``ScheduleClock/sleep(until:tolerance:)``.
private final class ClockSleep: @unchecked Sendable {
  // Sendable: everything that changes is accessed under `lock` only.
  private let lock = NSLock()
  private var continuation: CheckedContinuation<Void, Never>?
  private var isCancelled = false

  func begin(
    _ continuation: CheckedContinuation<Void, Never>, on executor: ScheduleExecutor,
    for delay: Duration
  ) {
    let isCancelled = lock.withLock {
      if !self.isCancelled { self.continuation = continuation }
      return self.isCancelled
    }
    guard !isCancelled else { return continuation.resume() }
    // No time has to pass: the task is ready as others are.
    guard delay > .zero else { return wake() }
    executor.sleep(delay, .call { self.wake() })
  }

  /// Resumes the task at once. Its sleeper wakes nothing then.
  func cancel(on executor: ScheduleExecutor) {
    lock.withLock { isCancelled = true }
    wake()
  }

  private func wake() {
    let continuation = lock.withLock { self.continuation.take() }
    continuation?.resume()
  }
}
