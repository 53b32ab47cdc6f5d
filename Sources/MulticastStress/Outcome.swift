import Multicast

/// The result of a trial.
struct Outcome: Sendable {
  let scenario: String
  let storage: StorageStrategy
  let rounds: Int
  let operations: Int
  let seconds: Double
  let brokenPromises: [String]
  /// The command that repeats the trial.
  let command: String

  var held: Bool { brokenPromises.isEmpty }
}

extension Outcome {
  init(_ trial: Trial, seconds: Double, command: String) {
    self.init(
      scenario: trial.scenario.name, storage: trial.storage, rounds: trial.rounds,
      operations: trial.operations, seconds: seconds, brokenPromises: trial.brokenPromises,
      command: command)
  }
}
