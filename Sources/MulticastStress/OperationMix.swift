/// How often the threads of a scenario add, remove, invoke, and release a registered delegate.
struct OperationMix: Equatable, Sendable {
  enum Operation: CaseIterable, Sendable {
    case add
    case remove
    case invoke
    case release
  }

  /// One weight for each operation, in the order of its cases.
  let weights: [Int]

  /// The largest weight that a text may have.
  static let largestWeight = 1_000_000

  static let standard = OperationMix(weights: [2, 1, 4, 1])
}

extension OperationMix: CustomStringConvertible {
  /// Reads `ADD:REMOVE:INVOKE:RELEASE`, or fails.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    let weights = parts.compactMap { $0 }.filter { (0...Self.largestWeight).contains($0) }
    guard parts.count == 4, weights.count == 4, weights[0] > 0, weights[2] > 0 else { return nil }
    self.init(weights: weights)
  }

  var description: String { weights.map(String.init).joined(separator: ":") }

  /// An operation, at random.
  func pick(_ generator: inout some RandomNumberGenerator) -> Operation {
    var rest = Int.random(in: 0..<weights.reduce(0, +), using: &generator)
    for (operation, weight) in zip(Operation.allCases, weights) {
      if rest < weight { return operation }
      rest -= weight
    }
    return .invoke
  }
}
