/// The results of repeated measurements of one value.
public struct Distribution: Sendable {
  /// In the order they were taken.
  public let samples: [Double]
  private let sorted: [Double]

  /// - Precondition: there is at least one sample.
  public init(_ samples: [Double]) {
    precondition(!samples.isEmpty, "a distribution needs a sample")
    self.samples = samples
    sorted = samples.sorted()
  }
}

extension Distribution {
  public var minimum: Double { sorted[0] }
  public var median: Double { percentile(50) }
  public var maximum: Double { sorted[sorted.count - 1] }

  /// The smallest sample that is at least as large as `percent` percent of all.
  public func percentile(_ percent: Double) -> Double {
    let rank = (percent / 100 * Double(sorted.count)).rounded(.up)
    return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
  }
}
