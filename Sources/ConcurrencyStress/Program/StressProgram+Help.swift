extension StressProgram {
  /// What `--help` prints.
  public var help: String {
    var lines = [
      ("--seconds S", "share S seconds among all trials (10)"),
      ("--rounds N", "instead, continue until each trial has done N rounds"),
      ("--threads N", "threads of a scenario (twice the processors)"),
    ]
    for option in options {
      lines.append(
        ("\(option.name) \(option.placeholder)", "\(option.summary) (\(option.defaultText))"))
    }
    lines.append(("--scenario NAME", "only this scenario; several with commas"))
    if let variants {
      lines.append(
        ("\(variants.option) NAME", "only this \(variants.noun); several with commas"))
    }
    lines += [
      ("--seed N", "repeat the random choices of the run that printed this seed"),
      ("--stall S", "end the process if no round ends for S seconds (60)"),
      ("--json FILE", "write the figures and verdicts to FILE"),
      ("--memory MB", "fail if the process uses more resident memory (no limit)"),
      ("--hours H", "repeat passes of --seconds (600), each with another seed, for H hours,"),
      ("", "with a line for each pass, and --memory 2048 unless it is given"),
      ("--state FILE", "with --hours: keep the progress in FILE, and resume from it"),
      ("--list", "print the scenarios and what they check"),
      ("-h, --help", "print this"),
    ]
    let width = (lines.map { $0.0.count }.max() ?? 0) + 2
    let table = lines.map { left, right in
      "  " + left + String(repeating: " ", count: width - left.count) + right
    }
    let example =
      examples.isEmpty ? "" : "\n\nFor example:\n  " + examples.joined(separator: "\n  ")
    return """
      usage: \(name) [options]

      \(summary)

      \(table.joined(separator: "\n"))

      A seed repeats what the threads do, not how the machine interleaves them. An interrupt ends
      the run after the current rounds, with its report; a second one ends it at once.

      Exit status: 0 if every promise held, 1 if one broke, 2 if the options are unusable or the
      report cannot be written, 3 if no round ended in time. A crash prints the trial, and ends by its signal.\(example)
      """
  }

  /// What `--list` prints: a line for each scenario, with what it checks.
  var list: [String] {
    let width = scenarios.map { $0.name.count }.max() ?? 0
    return scenarios.map { scenario in
      let padding = String(repeating: " ", count: width - scenario.name.count)
      return "\(scenario.name)\(padding)  \(scenario.promise)"
    }
  }
}
