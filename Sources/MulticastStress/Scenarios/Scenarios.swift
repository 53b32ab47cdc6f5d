import ConcurrencyStress

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
    AsyncHandlers.self,
    SlowConsumers.self,
    TotalOrder.self,
    States.self,
    Positions.self,
    Topics.self,
    TopicPositions.self,
    Linearizability.self,
  ]
}
