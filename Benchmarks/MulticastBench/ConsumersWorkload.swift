internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// `EventHub.send` to asynchronous sequences, beside an `AsyncStream` for each consumer.
  static var consumers: Workload {
    Workload("consumers", summary: "N tasks consume the events of an EventHub, per delivery") { _ in
      SparseConsumers.experiments
        + [HubConsumers(size: 100).experiment, HubConsumers(size: 100).largeExperiment]
        + [HubConsumers(size: 100).batchExperiment]
        + [AsyncHandlers(size: 100).experiment, StalledConsumer(size: 100).experiment]
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
        Requirement("consumers, N = \(size), deliveries, of AsyncStream", .atLeast(10)) {
          $0.typicalRatio("AsyncStream", to: "waitFree")
        }
      ]
    ) {
      [streams(of: Tick.self)] + StorageStrategy.allCases.map { hub($0, of: Tick.self) } + [log]
    }
  }

  /// With an event of several fields.
  var largeExperiment: Experiment {
    Experiment(
      "consumers/large events", detail: "N = \(size)",
      requirements: [
        Requirement(
          "consumers of large events, N = \(size), deliveries, of AsyncStream", .atLeast(5)
        ) {
          $0.typicalRatio("AsyncStream", to: "waitFree")
        }
      ]
    ) {
      [streams(of: Order.self), hub(.waitFree, of: Order.self)]
    }
  }

  /// Beside the floor of one call: what a delegate costs that is called by the sender.
  var batchExperiment: Experiment {
    Experiment(
      "consumers/batches", detail: "N = \(size)",
      requirements: [
        Requirement("consumers in batches of a log, N = \(size), of the floor", .atMost(10)) {
          $0.ratio("log", to: "floor")
        }
      ]
    ) {
      [floor] + StorageStrategy.allCases.map(batches) + [logBatches]
    }
  }

  private var floor: Case {
    let listeners = Listeners(size)
    let list = BareList<any Observer>(listeners.observers.map { $0 })
    return Case(
      "floor", size: size, isBaseline: true, deliveries: size, delivered: listeners.takeReceived
    ) { BareLoop.notify(list, $0) }
  }

  private func batches(_ storage: StorageStrategy) -> Case {
    Case(storage.rawValue, size: size, metrics: [.time], iterations: 1000) { iterations in
      let hub = EventHub<Tick>(storage: storage)
      let sequences = (0..<size).map { _ in hub.events().batches(upTo: 256) }
      return try Consumers.consumeBatches(sequences, storage.rawValue, events: iterations) {
        for _ in 0..<iterations { hub.send(1) }
        hub.finish()
      }
    }
  }

  /// Consumers that read what the hub retains.
  private var log: Case {
    Case("log", size: size, metrics: [.time], iterations: 1000) { iterations in
      let hub = EventHub<Tick>(retention: .last(1024))
      let sequences = (0..<size).map { _ in hub.events(from: .live) }
      return try Consumers.consumePositions(sequences, "log", events: iterations) {
        for _ in 0..<iterations { hub.send(1) }
        hub.finish()
      }
    }
  }

  private var logBatches: Case {
    Case("log", size: size, metrics: [.time], iterations: 1000) { iterations in
      let hub = EventHub<Tick>(retention: .last(1024))
      let sequences = (0..<size).map { _ in hub.events(from: .live).batches(upTo: 256) }
      return try Consumers.consumePositionBatches(sequences, "log", events: iterations) {
        for _ in 0..<iterations { hub.send(1) }
        hub.finish()
      }
    }
  }

  private func streams<Event: BenchmarkEvent>(of _: Event.Type) -> Case {
    Case("AsyncStream", size: size, isBaseline: true, metrics: [.time], iterations: 1000) {
      iterations in
      let broadcaster = StreamBroadcaster<Event>(consumers: size)
      return try Consumers.consume(broadcaster.streams, "AsyncStream", events: iterations) {
        for _ in 0..<iterations { broadcaster.send(1) }
        broadcaster.finish()
      }
    }
  }

  private func hub<Event: BenchmarkEvent>(_ storage: StorageStrategy, of _: Event.Type) -> Case {
    Case(storage.rawValue, size: size, metrics: [.time], iterations: 1000) { iterations in
      let hub = EventHub<Event>(storage: storage)
      let sequences = (0..<size).map { _ in hub.events() }
      return try Consumers.consume(sequences, storage.rawValue, events: iterations) {
        for _ in 0..<iterations { hub.send(1) }
        hub.finish()
      }
    }
  }
}
