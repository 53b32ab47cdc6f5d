internal import BenchmarkHarness
internal import Multicast

/// A consumer with a bounded buffer never iterates: what does it hold after a million events?
struct StalledMemory {
  private static let events = 1_000_000
  private static let growth = Metric("growth", unit: "bytes")

  /// Nothing, where the platform does not tell how much memory is in use.
  var experiment: Experiment? {
    guard Heap.bytesInUse != nil else { return nil }
    let bounded = StalledConsumer.policies.filter { $0.name != "unbounded" }
    return Experiment(
      "consumers/stalled memory", detail: "\(Self.events) events", sampling: .few,
      requirements: bounded.map { name, _ in
        Requirement("growth by \(Self.events) events, stalled with \(name), in bytes", .atMost(0)) {
          $0.distribution(name, Self.growth)?.median
        }
      }
    ) {
      bounded.map { measured($0.name, $0.policy) }
    }
  }

  private func measured(_ name: String, _ policy: BufferingPolicy<Tick>) -> Case {
    Case(name, metrics: [Self.growth], iterations: Self.events) { events in
      let hub = EventHub<Tick>()
      let stalled = hub.events(buffering: policy)
      // Enough to fill every buffer.
      for event in 0..<1000 { hub.send(Tick(integerLiteral: event)) }
      let before = Heap.bytesInUse ?? 0
      for event in 0..<events { hub.send(Tick(integerLiteral: event)) }
      let after = Heap.bytesInUse ?? 0
      let statistics = hub.statistics
      withExtendedLifetime(stalled) {}
      // A consumer that was disconnected is gone; every other one has either dropped an event
      // or has it.
      guard statistics.subscribers == 0 || statistics.dropped + statistics.pending == events + 1000
      else { throw WrongResult("\(name) has dropped events without counting them: \(statistics)") }
      return [Double(after - before)]
    }
  }
}
