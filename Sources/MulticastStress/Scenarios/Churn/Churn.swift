/// Every thread adds, removes, invokes, and drops delegates that are registered.
enum Churn: Scenario {
  static let name = "churn"
  static let promise =
    "who is registered and alive throughout an invocation is called once by it, in order; who is "
    + "not, never"

  static func run(_ trial: Trial) {
    trial.runRounds(
      setUp: { generator in
        ChurnRound(trial, operations: 8 << Int.random(in: 0..<6, using: &generator))
      },
      work: { round, worker in round.work(&worker) },
      check: { round in
        if let violation = round.violation() { trial.fail(violation) }
      })
  }
}
