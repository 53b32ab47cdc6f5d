/// One way to try to break a promise, and the oracle that knows whether it broke.
protocol Scenario: SendableMetatype {
  /// What the command line calls it.
  static var name: String { get }
  /// What must hold, in a line.
  static var promise: String { get }

  /// Works until the trial is over, and tells it what broke.
  static func run(_ trial: Trial)
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
