import Foundation
import Synchronization

/// Lets a number of threads go at the same time, as often as they meet.
///
/// Whoever waits spins for a moment, so that threads that run go at the same instant, and then
/// sleeps, so that it takes no time from one that does not run yet: the machine may have fewer
/// processors than there are threads, or other things to do.
final class MeetingPoint: @unchecked Sendable {
  // Sendable: what is not atomic never changes.
  private let parties: Int
  private let arrived = Atomic<Int>(0)
  private let meeting = Atomic<Int>(0)
  /// Held while `meeting` changes, and by those who are about to sleep until it does.
  private let condition = NSCondition()

  init(_ parties: Int) {
    self.parties = parties
  }

  /// Returns when every party has arrived.
  func arriveAndWait() {
    // Acquiring: as below.
    let mine = meeting.load(ordering: .acquiring)
    // Acquiring and releasing: what each party did before is seen by all of them afterwards.
    if arrived.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue == parties {
      arrived.store(0, ordering: .relaxed)
      condition.withLock {
        meeting.store(mine + 1, ordering: .releasing)
        condition.broadcast()
      }
      return
    }
    var looks = 0
    while looks < 2000 {
      if meeting.load(ordering: .acquiring) != mine { return }
      looks += 1
    }
    condition.withLock {
      while meeting.load(ordering: .acquiring) == mine { condition.wait() }
    }
  }
}
