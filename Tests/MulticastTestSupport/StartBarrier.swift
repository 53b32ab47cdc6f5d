internal import Foundation
internal import Synchronization

/// Lets a number of threads go at the same time, as often as they meet.
public final class StartBarrier: Sendable {
  private let parties: Int
  private let arrived = Atomic<Int>(0)
  private let meeting = Atomic<Int>(0)

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
      return
    }
    var spins = 0
    var deadline: ContinuousClock.Instant?
    while meeting.load(ordering: .acquiring) == mine {
      spins += 1
      guard spins > 500 else { continue }
      sched_yield()
      guard spins % 4096 == 0 else { continue }
      if let deadline {
        precondition(.now < deadline, "a start barrier waited for more than \(timeLimit) s")
      } else {
        deadline = .now.advanced(by: .seconds(timeLimit))
      }
    }
  }
}
