import ConcurrencyStress

/// Every thread adds, removes and invokes delegates, and releases registered ones.
enum Churn: Scenario {
  static let name = "churn"
  static let promise =
    "an invocation calls each delegate that is registered and alive throughout it once, in order, "
    + "and no other"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      ChurnRound(trial, operations: 8 << Int.random(in: 0..<6, using: &generator))
    }
  }
}
