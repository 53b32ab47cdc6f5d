internal import Foundation
internal import Synchronization

/// Delays of threads at places where they race, such as between a check and the act that it allows.
///
/// A race of a few instructions may not show in a million rounds. Call ``delay()`` in the middle of
/// it, in a build for stress tests:
///
/// ```swift
/// let next = node.next
/// #if STRESS
///   Perturbation.delay()
/// #endif
/// guard top.compareExchange(node, next) else { continue }
/// ```
///
/// ## Thread safety
/// Every operation may be called from any thread.
public enum Perturbation {
  // Relaxed, and a load and a store instead of one read-modify-write, which would be a barrier and
  // hide races. Two threads may get the same number.
  private static let state = Atomic<UInt64>(0)

  /// Does nothing mostly, and otherwise spins, yields to other threads, or sleeps for up to 0.25
  /// ms.
  public static func delay() {
    let random = next()
    if random.isMultiple(of: 2048) {
      usleep(UInt32(random >> 56))
    } else if random.isMultiple(of: 16) {
      sched_yield()
    } else if random.isMultiple(of: 4) {
      for _ in 0..<(random >> 58) { _ = state.load(ordering: .relaxed) }
    }
  }

  private static func next() -> UInt64 {
    // Like SplitMix64.
    let stepped = state.load(ordering: .relaxed) &+ 0x9E37_79B9_7F4A_7C15
    state.store(stepped, ordering: .relaxed)
    let mixed = (stepped ^ (stepped >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return mixed ^ (mixed >> 27)
  }
}
