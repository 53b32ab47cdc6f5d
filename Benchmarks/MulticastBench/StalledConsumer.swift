internal import BenchmarkHarness
internal import Multicast

/// One consumer of many has stalled: what becomes of the others?
struct StalledConsumer {
  let size: Int

  /// The policies that a stalled consumer may have.
  static let policies: [(name: String, policy: BufferingPolicy<Tick>)] = [
    ("unbounded", .unbounded),
    ("dropOldest", .bounded(16, whenFull: .dropOldest)),
    ("dropNewest", .bounded(16, whenFull: .dropNewest)),
    ("suspend", .bounded(16, whenFull: .suspend)),
    ("disconnect", .bounded(16, whenFull: .disconnect)),
    ("latest", .latest),
    ("coalescing", .coalescing { $0.number % 4 }),
  ]

  var experiment: Experiment {
    Experiment(
      "consumers/stalled", detail: "N = \(size)", sampling: .many,
      requirements: Self.policies.map { name, _ in
        Requirement("consumers, one stalled with \(name), rate of the others", .atLeast(0.9)) {
          $0.typicalRatio("none", to: name)
        }
      }
    ) {
      [measured("none", nil, isBaseline: true)]
        + Self.policies.map { measured($0.name, $0.policy) }
    }
  }

  private func measured(
    _ name: String, _ policy: BufferingPolicy<Tick>?, isBaseline: Bool = false
  ) -> Case {
    Case(name, size: size, isBaseline: isBaseline, metrics: [.time], iterations: 250) {
      iterations in
      let hub = EventHub<Tick>()
      let stalled = policy.map { hub.events(buffering: $0) }
      let others = (0..<(policy == nil ? size : size - 1)).map { _ in hub.events() }
      defer { withExtendedLifetime(stalled) {} }
      return try Consumers.consume(others, name, events: iterations) {
        for _ in 0..<iterations { hub.send(1) }
        hub.finish()
      }
    }
  }
}
