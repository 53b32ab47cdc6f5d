/// How often each outcome of an ``OutcomeTest`` came.
///
/// ## Thread safety
/// A value.
public struct OutcomeTable<Outcome: Hashable & Sendable>: Sendable, CustomStringConvertible {
  /// How often each outcome came.
  public private(set) var counts: [Outcome: Int] = [:]
  /// Repeats how the actors were delayed.
  public let seed: UInt64
  private let expected: [Outcome: Expectation]
  private let order: [Outcome]

  init(seed: UInt64, expected: [Outcome: Expectation], order: [Outcome]) {
    self.seed = seed
    self.expected = expected
    self.order = order
  }

  /// The number of rounds.
  public var rounds: Int { counts.values.reduce(0, +) }

  /// Whether no forbidden outcome came.
  public var held: Bool { counts.keys.allSatisfy { expectation(of: $0).isAllowed } }

  /// What an outcome means. One that is not listed is forbidden.
  ///
  /// - Parameter outcome: an outcome, perhaps one that never came.
  /// - Returns: the expectation of the test.
  public func expectation(of outcome: Outcome) -> Expectation {
    expected[outcome] ?? .forbidden("not listed")
  }

  /// A line for each outcome that is listed or came: the outcome, how often it came, its share of
  /// the rounds, and what it means.
  public var description: String {
    let others = counts.keys.filter { expected[$0] == nil }.map { ($0, text(of: $0)) }
      .sorted { $0.1 < $1.1 }.map(\.0)
    let lines = (order + others).map { outcome in
      let count = counts[outcome] ?? 0
      let share = rounds == 0 ? 0 : Double(count) / Double(rounds) * 100
      let expectation = expectation(of: outcome)
      return [
        text(of: outcome), count.grouped, share.shortened + " %", expectation.title,
        expectation.reason,
      ]
    }
    return Columns.text([["outcome", "times", "share", "", ""]] + lines)
  }

  mutating func add(_ more: [Outcome: Int]) {
    counts.merge(more, uniquingKeysWith: +)
  }

  /// The seed of the next rounds.
  var nextSeed: UInt64 {
    var mixer = SplitMix64(seed: seed &+ UInt64(rounds))
    return mixer.next()
  }
}
