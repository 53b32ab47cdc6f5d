internal import Foundation

/// A small generator of pseudo-random numbers that gives the same ones for the same seed.
///
/// ## Thread safety
/// A value.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator.
  ///
  /// - Parameter seed: decides all numbers.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next number of the sequence that the seed decides.
  ///
  /// - Returns: the number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SplitMix64 {
  /// The seed of this run: the environment variable `STRESS_SEED`, or a new one. Printed once.
  public static let runSeed: UInt64 = {
    let text = ProcessInfo.processInfo.environment["STRESS_SEED"]
    let given = text.flatMap { UInt64($0) }
    if let text, given == nil {
      print("STRESS_SEED: '\(text.printable)' is not a number from 0 to \(UInt64.max); a new one:")
    }
    let seed = given ?? UInt64.random(in: 1...UInt64.max)
    print("STRESS_SEED=\(seed)")
    return seed
  }()
}
