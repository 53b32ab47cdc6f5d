import Foundation

/// A pseudo-random number generator with a seed.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// The seed of this run: the environment variable `MULTICAST_SEED`, or a random one. Printed
  /// once.
  static let runSeed: UInt64 = {
    let given = ProcessInfo.processInfo.environment["MULTICAST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 1...UInt64.max)
    print("MULTICAST_SEED=\(seed)")
    return seed
  }()
}
