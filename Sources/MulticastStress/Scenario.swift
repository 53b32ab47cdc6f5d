/// One way to try to break a promise, and the oracle that decides whether it broke.
protocol Scenario: SendableMetatype {
  /// What the command line calls it.
  static var name: String { get }
  /// What must hold, in a line.
  static var promise: String { get }

  /// Works until the trial is over, and reports to it what broke.
  static func run(_ trial: Trial)
}

/// What the threads of a scenario share in one round.
protocol ScenarioRound: Sendable {
  /// What each thread does. It must end by itself.
  func work(_ worker: inout Worker)

  /// Reports what broke. Called on one thread when the work of all threads is done.
  func check()
}

/// The scenarios there are, in the order in which they run.
enum Scenarios {
  static let all: [any Scenario.Type] = [
    Churn.self,
    SequenceOrder.self,
    Removal.self,
    Lifetime.self,
    Reentrancy.self,
    AddressReuse.self,
    Queues.self,
    Cancellation.self,
    Consumers.self,
    SlowConsumers.self,
    TotalOrder.self,
    Topics.self,
    Linearizability.self,
  ]
}
