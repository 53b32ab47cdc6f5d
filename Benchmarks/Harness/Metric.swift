/// What one number of a measurement means.
public struct Metric: Sendable, Hashable {
  /// What was measured, in one or two words.
  public let name: String
  public let unit: String
  /// Whether a larger value is better, as of a throughput.
  public let largerIsBetter: Bool

  public init(_ name: String, unit: String, largerIsBetter: Bool = false) {
    self.name = name
    self.unit = unit
    self.largerIsBetter = largerIsBetter
  }
}

extension Metric {
  /// The time of one delivery, or of the unit that a case counts.
  public static let time = Metric("time", unit: "ns")

  /// The sample that the machine disturbed least.
  func best(of distribution: Distribution) -> Double {
    largerIsBetter ? distribution.maximum : distribution.minimum
  }
}
