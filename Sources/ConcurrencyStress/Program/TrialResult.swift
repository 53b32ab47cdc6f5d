/// The result of a trial, or of several trials of one scenario on one variant.
struct TrialResult: Sendable, Codable {
  let scenario: String
  let variant: String?
  var rounds: Int
  var operations: Int
  var seconds: Double
  var brokenPromises: [String]
  /// The command that repeats the trial: the last one, or the first one that broke a promise.
  var command: String

  var held: Bool { brokenPromises.isEmpty }
}

extension TrialResult {
  init(_ trial: Trial, seconds: Double, command: String) {
    self.init(
      scenario: trial.scenario.name, variant: trial.variant, rounds: trial.rounds,
      operations: trial.operations, seconds: seconds, brokenPromises: trial.brokenPromises,
      command: command)
  }

  /// Adds a later trial of the same scenario on the same variant. Keeps ten broken promises.
  mutating func add(_ other: TrialResult) {
    rounds += other.rounds
    operations += other.operations
    seconds += other.seconds
    if held { command = other.command }
    brokenPromises = Array((brokenPromises + other.brokenPromises).prefix(10))
  }

  /// Whether `other` is of the same scenario on the same variant.
  func isOfSame(_ other: TrialResult) -> Bool {
    scenario == other.scenario && variant == other.variant
  }
}
