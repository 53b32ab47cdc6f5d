internal import Foundation
internal import Synchronization

/// Lets a number of threads go at the same time, as often as they meet.
public final class StartBarrier: Sendable {
  private let parties: Int
  private let arrived = Atomic<Int>(0)
  private let meeting = Atomic<Int>(0)
  /// For those who have waited for a while: on a machine with more threads than processors they are
  /// in the way of those whom they wait for.
  private let condition = NSCondition()

  public init(_ parties: Int) {
    precondition(parties > 0)
    self.parties = parties
  }

  /// Returns when every party has arrived. Traps if that takes too long.
  public func arriveAndWait() {
    let mine = meeting.load(ordering: .acquiring)
    // Acquiring and releasing: what each party did before is visible to all of them afterwards.
    if arrived.add(1, ordering: .acquiringAndReleasing).newValue == parties {
      arrived.store(0, ordering: .relaxed)
      meeting.store(mine + 1, ordering: .releasing)
      // After the lock was free, those who sleep either see the new number or hear the call.
      condition.withLock { condition.broadcast() }
      return
    }
    // Whoever sleeps starts late, so at first nobody does.
    let bedtime = ContinuousClock.now + .milliseconds(1)
    var spins = 0
    while meeting.load(ordering: .acquiring) == mine {
      spins += 1
      guard spins > 500 else { continue }
      guard ContinuousClock.now < bedtime else { return sleep(through: mine) }
      sched_yield()
    }
  }

  private func sleep(through mine: Int) {
    let deadline = Date(timeIntervalSinceNow: timeLimit)
    condition.withLock {
      while meeting.load(ordering: .acquiring) == mine {
        let isInTime = condition.wait(until: deadline)
        precondition(isInTime, "a start barrier waited for more than \(timeLimit) s")
      }
    }
  }
}
