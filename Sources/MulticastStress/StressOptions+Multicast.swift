import ConcurrencyStress
import Multicast

extension StressOptions {
  static let delegates = StressOption.number(
    "--delegates", "the most delegates of a hub, where that matters", default: 16,
    in: 1...100_000)
  static let mix = StressOption(
    "--mix", "A:R:I:D", "weights of add, remove, invoke and release",
    default: OperationMix.standard,
    requirement: """
      four numbers add:remove:invoke:release from 0 to \(OperationMix.largestWeight), of which add \
      and invoke are at least 1
      """,
    format: { $0.description }, parse: { OperationMix($0) })

  /// Reads the arguments of `multicast-stress`.
  init(_ arguments: [String]) throws(StressOptionError) {
    try self.init(arguments, for: Program.stress)
  }
}

extension Trial {
  /// The storage strategy of the hubs.
  var storage: StorageStrategy { variant.flatMap(StorageStrategy.init)! }
  /// The most delegates of a hub.
  var delegates: Int { options[StressOptions.delegates] }
  /// How often the threads do what.
  var mix: OperationMix { options[StressOptions.mix] }

  /// A trial of this scenario on this strategy.
  convenience init(
    _ scenario: any Scenario.Type, on storage: StorageStrategy, _ options: StressOptions,
    _ limit: Limit
  ) {
    self.init(StressScenario(scenario), variant: storage.rawValue, options, limit)
  }
}
