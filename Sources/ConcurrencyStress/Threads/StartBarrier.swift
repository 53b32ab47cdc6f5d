internal import Foundation
internal import Synchronization

/// A barrier at which a fixed number of threads wait for each other, any number of times.
///
/// A thread spins for a moment, so that the threads continue at the same instant, and then
/// sleeps. With more threads than processors it yields before that: a spinning thread takes time
/// from those it waits for. With fewer it does not: on a busy machine another program would get
/// the processor for milliseconds, and the threads would hardly ever run at the same time. A
/// thread that has slept gets a processor soon.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class StartBarrier: Sendable {
  private let parties: Int
  private let seconds: Double
  /// Whether there are more threads than processors.
  private let mustYield: Bool
  private let arrived = Atomic<Int>(0)
  /// How often all threads have met.
  private let phase = Atomic<Int>(0)
  /// Guards the change of `phase` against threads that are about to sleep.
  private let condition = NSCondition()

  /// Creates a barrier for a number of threads.
  ///
  /// - Parameters:
  ///   - parties: the number of threads.
  ///   - seconds: how long a thread waits for the others before it traps. May be infinite.
  public init(_ parties: Int, seconds: Double = timeLimit) {
    require(parties > 0, "a barrier for \(parties) threads: at least one must arrive")
    self.parties = parties
    self.seconds = seconds
    mustYield = parties > ProcessInfo.processInfo.activeProcessorCount
  }

  /// Returns when every thread has arrived. Traps if that takes too long.
  public func arriveAndWait() {
    // Acquiring: as below.
    let current = phase.load(ordering: .acquiring)
    // Acquiring and releasing: afterwards every thread sees what the others did before.
    if arrived.add(1, ordering: .acquiringAndReleasing).newValue == parties {
      // Relaxed: no party arrives again before it has seen the new phase, which is stored later.
      arrived.store(0, ordering: .relaxed)
      condition.withLock {
        // Releasing: what all threads did before is seen by those that see the new phase.
        phase.store(current + 1, ordering: .releasing)
        condition.broadcast()
      }
      return
    }
    // A thread that sleeps continues late.
    let spinning = ContinuousClock.now + .microseconds(mustYield ? 1000 : 50)
    var spins = 0
    while phase.load(ordering: .acquiring) == current {
      spins += 1
      guard spins > 500 else { continue }
      guard ContinuousClock.now < spinning else { return sleep(through: current) }
      if mustYield { sched_yield() }
    }
  }

  private func sleep(through current: Int) {
    let deadline = seconds.isFinite ? Date(timeIntervalSinceNow: seconds.asWait) : nil
    condition.withLock {
      while phase.load(ordering: .acquiring) == current {
        guard let deadline else {
          condition.wait()
          continue
        }
        let isInTime = condition.wait(until: deadline)
        require(isInTime, "a start barrier waited for more than \(seconds) s")
      }
    }
  }
}
