// Fault injection for `multicast-stress`: a build with `-Xswiftc -DMULTICAST_PERTURB` delays
// threads at random where a delay exposes races: between a check and the call, between counting in
// and loading, and at the boundaries of locks. In every other build `perturb` is empty.

#if MULTICAST_PERTURB

  internal import Synchronization

  internal import CMulticast

  /// Occasionally spins, yields to other threads, or sleeps.
  @usableFromInline @inline(never)
  func perturb() {
    let random = Perturbation.next()
    if random.isMultiple(of: 2048) {
      usleep(UInt32(random >> 56))
    } else if random.isMultiple(of: 16) {
      sched_yield()
    } else if random.isMultiple(of: 4) {
      for _ in 0..<(random >> 58) { _ = Perturbation.state.load(ordering: .relaxed) }
    }
  }

  private enum Perturbation {
    // Relaxed, and a load and a store instead of one read-modify-write, which would be a barrier
    // and hide races. Two threads may get the same number.
    static let state = Atomic<UInt64>(0)

    static func next() -> UInt64 {
      // Like SplitMix64.
      let stepped = state.load(ordering: .relaxed) &+ 0x9E37_79B9_7F4A_7C15
      state.store(stepped, ordering: .relaxed)
      let mixed = (stepped ^ (stepped >> 30)) &* 0xBF58_476D_1CE4_E5B9
      return mixed ^ (mixed >> 27)
    }
  }

#else

  @inlinable @inline(__always)
  func perturb() {}

#endif
