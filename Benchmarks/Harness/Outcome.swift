/// The results of an experiment.
public struct Outcome: Sendable {
  /// One metric of one case.
  public struct Row: Sendable {
    public let system: String
    public let size: Int?
    public let threads: Int
    public let metric: Metric
    public let distribution: Distribution
    /// The best sample, as a multiple of the baseline's, if the experiment has a baseline.
    public internal(set) var ratio: Double?
  }

  public let title: String
  public let name: String
  public private(set) var rows: [Row]

  init(_ experiment: Experiment, measured: [(Case, [Distribution])]) {
    title = experiment.title
    name = experiment.name
    let baselines = measured.filter { $0.0.isBaseline }
    rows = []
    for (measured, distributions) in measured {
      let baseline = baselines.first {
        $0.0.size == measured.size && $0.0.threads == measured.threads
      }
      for (metric, distribution) in zip(measured.metrics, distributions) {
        var row = Row(
          system: measured.system, size: measured.size, threads: measured.threads,
          metric: metric, distribution: distribution)
        if let (baseCase, baseDistributions) = baseline,
          let index = baseCase.metrics.firstIndex(of: metric)
        {
          row.ratio = row.best / metric.best(of: baseDistributions[index])
        }
        rows.append(row)
      }
    }
  }
}

extension Outcome {
  /// The best sample of the row that is described, or `nil` if it was not measured.
  public func best(
    _ system: String, size: Int? = nil, threads: Int? = nil, _ metric: Metric = .time
  ) -> Double? {
    distribution(system, size: size, threads: threads, metric).map(metric.best)
  }

  /// The samples of the row that is described, or `nil` if it was not measured.
  public func distribution(
    _ system: String, size: Int? = nil, threads: Int? = nil, _ metric: Metric = .time
  ) -> Distribution? {
    let row = rows.first {
      $0.system == system && $0.metric == metric && (size == nil || $0.size == size)
        && (threads == nil || $0.threads == threads)
    }
    return row?.distribution
  }

  /// The best sample of `system` as a multiple of that of `other`.
  public func ratio(_ system: String, to other: String, _ metric: Metric = .time) -> Double? {
    guard let value = best(system, metric), let reference = best(other, metric) else { return nil }
    return value / reference
  }

  /// The best sample of `system` less that of `other`.
  public func difference(
    _ system: String, to other: String, _ metric: Metric = .time
  ) -> Double? {
    guard let value = best(system, metric), let reference = best(other, metric) else { return nil }
    return value - reference
  }

  /// The median of `system` as a multiple of that of `other`.
  ///
  /// For work that the system spreads over a pool of threads: the best sample is then one in which
  /// it happened to use fewer of them, which says little about the other samples.
  public func typicalRatio(
    _ system: String, to other: String, _ metric: Metric = .time
  ) -> Double? {
    guard
      let value = distribution(system, metric), let reference = distribution(other, metric)
    else { return nil }
    return value.median / reference.median
  }

  func verdicts(on requirements: [Requirement]) -> [Verdict] {
    requirements.compactMap { requirement in
      requirement.measure(self).map { Verdict(requirement: requirement, value: $0) }
    }
  }
}

extension Outcome.Row {
  /// The sample that the machine disturbed least.
  var best: Double { metric.best(of: distribution) }
}
