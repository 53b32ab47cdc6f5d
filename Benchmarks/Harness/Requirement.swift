/// A figure that a system must reach.
public struct Requirement: Sendable {
  /// The limit.
  public enum Bound: Sendable {
    case atMost(Double)
    case atLeast(Double)
  }

  /// What must be reached, in a line.
  public let title: String
  public let bound: Bound
  let measure: @Sendable (Outcome) -> Double?

  /// - Parameter measure: computes the figure, or returns `nil` if what it needs was not measured.
  public init(
    _ title: String, _ bound: Bound, measure: @escaping @Sendable (Outcome) -> Double?
  ) {
    self.title = title
    self.bound = bound
    self.measure = measure
  }
}

extension Requirement.Bound: CustomStringConvertible {
  func isKept(by value: Double) -> Bool {
    switch self {
    case .atMost(let limit): value <= limit
    case .atLeast(let limit): value >= limit
    }
  }

  public var description: String {
    switch self {
    case .atMost(let limit): "<= \(limit.formatted)"
    case .atLeast(let limit): ">= \(limit.formatted)"
    }
  }
}

/// A requirement, and what was measured.
struct Verdict {
  let requirement: Requirement
  let value: Double

  var isKept: Bool { requirement.bound.isKept(by: value) }
}
