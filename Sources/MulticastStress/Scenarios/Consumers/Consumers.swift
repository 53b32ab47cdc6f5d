import ConcurrencyStress

/// Tasks that iterate over the events of a hub are cancelled while events are sent.
enum Cancellation: Scenario {
  static let name = "cancellation"
  static let promise =
    "cancelling a consuming task while events are sent ends it, blocks no sender, and drops no "
    + "event before"

  static func run(_ trial: Trial) {
    runConsumers(trial, [.cancelled])
  }
}

/// Consumers of a hub that finishes, at once or when they have everything, and consumers that are
/// abandoned, cancelled early, or cancelled while senders wait for space in their buffer.
enum Consumers: Scenario {
  static let name = "consumers"
  static let promise =
    "a consumer gets all that was sent before the finish; one that is abandoned leaves nothing "
    + "behind"

  static func run(_ trial: Trial) {
    runConsumers(
      trial,
      [
        .finished, .finishedWhenAllHasCome, .abandoned, .dropped, .cancelledEarly,
        .cancelledWithSendersWaiting, .finishedWithSendersWaiting,
      ])
  }
}

/// How a consumer ends.
enum ConsumerEnd {
  /// Its task is cancelled.
  case cancelled
  /// The hub finishes.
  case finished
  /// The hub finishes when the consumer has received everything.
  case finishedWhenAllHasCome
  /// The sequence is released without having been iterated.
  case abandoned
  /// The task stops iterating.
  case dropped
  /// Its task is cancelled before it begins to iterate.
  case cancelledEarly
  /// Its task is cancelled while its buffer is full and tasks wait for space in it.
  case cancelledWithSendersWaiting
  /// The hub finishes while tasks wait for space in its buffer.
  case finishedWithSendersWaiting

  /// Whether its buffer is small, and senders wait for space.
  var hasWaitingSenders: Bool {
    self == .cancelledWithSendersWaiting || self == .finishedWithSendersWaiting
  }
}

private func runConsumers(_ trial: Trial, _ ends: [ConsumerEnd]) {
  let threads = max(2, trial.threads)
  trial.runRounds(threads: threads) { generator in
    ConsumerRound(
      trial, senders: threads - 1, end: ends.randomElement(using: &generator)!,
      events: 1 << Int.random(in: 0..<5, using: &generator))
  }
}
