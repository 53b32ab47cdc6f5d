@testable import ConcurrencyStress

/// A program with two scenarios on two variants: one of them breaks a promise if it is told to.
let countingProgram = StressProgram(
  "count-stress", summary: "Counts.",
  variants: StressVariants(option: "--variant", noun: "variant", names: ["first", "second"]),
  options: [limit],
  scenarios: [
    StressScenario("counting", promise: "each worker is counted") { trial in
      trial.runRounds { _ in CountingRound(trial: trial, breaks: false) }
    },
    StressScenario("breaking", promise: "there are few rounds") { trial in
      trial.runRounds { _ in CountingRound(trial: trial, breaks: true) }
    },
  ])

/// The number of rounds that `breaking` allows on the second variant.
let limit = StressOption.number(
  "--limit", "the rounds that are allowed", default: 1_000_000_000, in: 0...1_000_000_000)

/// A trial of `counting`.
func counting(_ arguments: [String], _ limit: Trial.Limit) throws -> Trial {
  let options = try StressOptions(arguments, for: countingProgram)
  return Trial(
    countingProgram.scenarios[0], variant: options.variants.first, options, limit)
}

private struct CountingRound: ScenarioRound {
  let trial: Trial
  let breaks: Bool
  let counter = Counter()

  func work(_ worker: inout Worker) {
    worker.begin("adds")
    counter.add()
  }

  func check() {
    trial.expect(counter.value == trial.threads, "a worker was missing")
    guard breaks, trial.variant == "second" else { return }
    trial.expect(trial.rounds < trial.options[limit], "there were too many rounds")
  }
}
