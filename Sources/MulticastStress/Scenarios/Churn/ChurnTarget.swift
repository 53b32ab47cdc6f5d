import ConcurrencyStress
import Synchronization

/// A delegate of ``Churn``, which records when its deinitialisation begins.
final class ChurnTarget: Target, @unchecked Sendable {
  // Sendable: as for the superclass.
  private let life: Life

  /// What outlives a delegate.
  final class Life: Sendable {
    // Relaxed: read when the threads have met after the round.
    let died = Atomic<Int>(ChurnHistory.never)
  }

  private let clock: LogicalClock

  init(_ id: Int, _ lifetimes: LifetimeTracker, _ clock: LogicalClock, _ life: Life) {
    self.life = life
    self.clock = clock
    super.init(id, lifetimes)
  }

  deinit {
    life.died.store(clock.tick(), ordering: .relaxed)
  }
}
