/// Measures experiments.
struct Runner {
  /// How long a sample should take.
  private let sampleNanoseconds: Int
  private let isQuick: Bool

  init(isQuick: Bool) {
    sampleNanoseconds = isQuick ? 500_000 : 1_000_000
    self.isQuick = isQuick
  }
}

extension Runner {
  /// Takes samples of `cases` alternately: one of each, then the next of each.
  func run(_ experiment: Experiment, _ cases: [Case]) throws -> Outcome {
    let iterations = try cases.map(calibrate)
    var samples = cases.map { $0.metrics.map { _ in [Double]() } }
    let repetitions = repetitions(experiment.sampling)
    for repetition in 0..<repetitions {
      for offset in cases.indices {
        // Begins with another case each time, so that none always follows the same one.
        let index = (offset + repetition) % cases.count
        let values = try cases[index].takeSample(iterations: iterations[index])
        for (metric, value) in values.enumerated() { samples[index][metric].append(value) }
      }
    }
    let distributions = samples.map { $0.map { Distribution($0) } }
    return Outcome(experiment, measured: Array(zip(cases, distributions)))
  }

  private func repetitions(_ sampling: Sampling) -> Int {
    switch sampling {
    case .few: isQuick ? 7 : 15
    case .usual: isQuick ? 11 : 51
    case .many: isQuick ? 51 : 151
    }
  }

  /// How often a case repeats its work in a sample. Also warms it up.
  private func calibrate(_ measured: Case) throws -> Int {
    if let iterations = measured.iterations {
      _ = try measured.takeSample(iterations: iterations)
      return iterations
    }
    // In the first run, code and data are not in the caches: it would make the case look slow.
    _ = try nanoseconds(measured, 1)
    var iterations = 1
    while true {
      // The better of two, because another process may have had the processor.
      let attempts = try (0..<2).map { _ in try nanoseconds(measured, iterations) }
      let elapsed = max(min(attempts[0], attempts[1]), 1)
      if elapsed >= sampleNanoseconds / 4 {
        return max(iterations * sampleNanoseconds / elapsed, 1)
      }
      guard iterations < 1 << 40 else {
        throw WrongResult("\(measured.system) takes no time: the optimiser has removed it")
      }
      iterations *= 2
    }
  }

  /// How long it takes to take a sample.
  private func nanoseconds(_ measured: Case, _ iterations: Int) throws -> Int {
    let start = MonotonicClock.nanoseconds
    _ = try measured.takeSample(iterations: iterations)
    return MonotonicClock.nanoseconds - start
  }
}
