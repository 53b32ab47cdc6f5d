extension Options {
  /// What `--help` prints.
  static let help = """
    usage: multicast-stress [options]

    Tries to break every promise of the library: runs each scenario on each storage strategy,
    and checks what happened against what may happen.

      --seconds S         share S seconds among all runs (10)
      --rounds N          instead, go on until each run has done N rounds
      --threads N         threads of a scenario (twice the processors)
      --delegates N       delegates that a hub has at the most, where that matters (16)
      --mix A:R:I:D       weights of add, remove, invoke, and dropping a delegate (\(OperationMix.standard))
      --scenario NAME     only this scenario; several with commas
      --strategy NAME     only this storage strategy; several with commas
      --seed N            make the random choices of the run that printed this seed
      --stall S           take it for stuck if no round ends for S seconds (60)
      --json FILE         write the figures and verdicts to FILE
      --list              print the scenarios and what they check
      -h, --help          print this

    The threads still meet as the machine has it: a seed repeats what they do, not when.

    Exit status: 0 if every promise held, 1 if one broke, 2 if the options are unusable,
    3 if a round came to no end. A crash says where, and ends by its signal.

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
