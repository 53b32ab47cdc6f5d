internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// `EventHub.send` to asynchronous sequences, beside an `AsyncStream` for each consumer.
  static var consumers: Workload {
    Workload("consumers", summary: "N tasks consume the events of an EventHub, per delivery") { _ in
      SparseConsumers.experiments
        + [HubConsumers(size: 100).experiment, StalledConsumer(size: 100).experiment]
        + [StalledMemory().experiment].compactMap { $0 }
    }
  }
}

private struct HubConsumers {
  let size: Int

  var experiment: Experiment {
    Experiment(
      "consumers/sequences", detail: "N = \(size)",
      requirements: [
        Requirement("consumers, N = \(size), deliveries, of AsyncStream", .atLeast(3)) {
          $0.typicalRatio("AsyncStream", to: "waitFree")
        }
      ]
    ) {
      [streams] + StorageStrategy.allCases.map(hub)
    }
  }

  private var streams: Case {
    Case("AsyncStream", size: size, isBaseline: true, metrics: [.time], iterations: 1000) {
      iterations in
      let broadcaster = StreamBroadcaster(consumers: size)
      return try Consumers.consume(broadcaster.streams, "AsyncStream", events: iterations) {
        for _ in 0..<iterations { broadcaster.send(1) }
        broadcaster.finish()
      }
    }
  }

  private func hub(_ storage: StorageStrategy) -> Case {
    Case(storage.rawValue, size: size, metrics: [.time], iterations: 1000) { iterations in
      let hub = EventHub<Int>(storage: storage)
      let sequences = (0..<size).map { _ in hub.events() }
      return try Consumers.consume(sequences, storage.rawValue, events: iterations) {
        for _ in 0..<iterations { hub.send(1) }
        hub.finish()
      }
    }
  }
}
