extension Options {
  /// What `--help` prints.
  static let help = """
    usage: multicast-stress [options]

    Tries to break every promise of the library: runs each scenario on each storage strategy,
    and checks what happened against what may happen.

      --seconds S         share S seconds among all runs (10)
      --rounds N          instead, continue until each run has done N rounds
      --threads N         threads of a scenario (twice the processors)
      --delegates N       the most delegates of a hub, where that matters (16)
      --mix A:R:I:D       weights of add, remove, invoke and release (\(OperationMix.standard))
      --scenario NAME     only this scenario; several with commas
      --strategy NAME     only this storage strategy; several with commas
      --seed N            repeat the random choices of the run that printed this seed
      --stall S           end the process if no round ends for S seconds (60)
      --json FILE         write the figures and verdicts to FILE
      --list              print the scenarios and what they check
      -h, --help          print this

    A seed repeats what the threads do, not how the machine interleaves them.

    Exit status: 0 if every promise held, 1 if one broke, 2 if the options are unusable,
    3 if no round ended in time. A crash prints the trial, and ends by its signal.

    For example:
      multicast-stress --seconds 60 --strategy waitFree
      multicast-stress --scenario churn,removal --threads 8 --mix 3:2:8:1
    """

  /// What `--list` prints: a line for each scenario, with what it checks.
  static var list: [String] {
    let width = Scenarios.all.map { $0.name.count }.max() ?? 0
    return Scenarios.all.map { scenario in
      let padding = String(repeating: " ", count: width - scenario.name.count)
      return "\(scenario.name)\(padding)  \(scenario.promise)"
    }
  }
}
