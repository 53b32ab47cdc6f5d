/// A kind of load, under which systems are compared.
public struct Workload {
  /// One word, also the first part of the names of its experiments.
  public let name: String
  /// What is measured, in a line.
  public let summary: String
  let makeExperiments: (Settings) -> [Experiment]

  public init(
    _ name: String, summary: String, experiments: @escaping (Settings) -> [Experiment]
  ) {
    self.name = name
    self.summary = summary
    makeExperiments = experiments
  }
}

/// How many samples an experiment takes.
public enum Sampling: Sendable {
  /// Because one takes long.
  case few
  case usual
  /// Because few succeed: threads seldom run at the same time on a machine that others use.
  case many
}

/// Cases that are measured alternately, so that other load on the machine affects all of them.
public struct Experiment {
  /// The path of what is measured: `invocation/strong/forEach`.
  public let name: String
  /// What distinguishes it from others with the same name: `N = 100`.
  public let detail: String
  public let sampling: Sampling
  public let requirements: [Requirement]
  let makeCases: () -> [Case]

  /// - Parameter cases: makes the cases, with all that they need, before they are measured.
  public init(
    _ name: String, detail: String = "", sampling: Sampling = .usual,
    requirements: [Requirement] = [], cases: @escaping () -> [Case]
  ) {
    self.name = name
    self.detail = detail
    self.sampling = sampling
    self.requirements = requirements
    makeCases = cases
  }
}

extension Experiment {
  /// The name and the detail.
  public var title: String { detail.isEmpty ? name : "\(name), \(detail)" }
}

/// The options that a workload must know.
public struct Settings: Sendable {
  /// Whether to be quick rather than precise.
  public let isQuick: Bool
  private let sizes: [Int]?
  private let threads: [Int]?

  init(_ options: Options) {
    isQuick = options.isQuick
    sizes = options.sizes
    threads = options.threads
  }

  /// The sizes that were asked for, or else `usual`.
  public func sizes(or usual: [Int]) -> [Int] { sizes ?? usual }

  /// The numbers of threads that were asked for, or else `usual`.
  public func threads(or usual: [Int]) -> [Int] { threads ?? usual }
}
