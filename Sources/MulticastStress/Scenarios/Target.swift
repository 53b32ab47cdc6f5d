import ConcurrencyStress
import Synchronization

/// A delegate that is counted, and detects calls that come too late.
class Target: @unchecked Sendable {
  // Sendable: every stored property is a constant of a Sendable type; so it must be in subclasses.
  let id: Int
  private let lifetimes: LifetimeTracker
  // Sequentially consistent: a call that begins after `poison` has returned sees it.
  private let poisoned = Atomic(false)
  /// Has this value as long as the object lives.
  // Relaxed, so that it orders nothing that the hub should order.
  private let canary = Atomic<UInt64>(Target.alive)

  private static var alive: UInt64 { 0x5EED_A11F_E5EE_DA11 }

  init(_ id: Int, _ lifetimes: LifetimeTracker) {
    self.id = id
    self.lifetimes = lifetimes
    lifetimes.noteCreation()
  }

  deinit {
    canary.store(0, ordering: .relaxed)
    lifetimes.noteDestruction()
  }

  /// Forbids further calls: those that come are counted.
  final func poison() { poisoned.store(true, ordering: .sequentiallyConsistent) }

  /// Called first by each call: counts it if it comes too late.
  final func noteCall() {
    let lives = canary.load(ordering: .relaxed) == Self.alive
    if !lives || poisoned.load(ordering: .sequentiallyConsistent) { lifetimes.noteLateCall() }
  }
}
