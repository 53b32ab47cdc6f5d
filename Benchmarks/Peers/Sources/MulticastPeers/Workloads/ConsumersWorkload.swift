internal import AsyncAlgorithms
internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// One sender, and a task for each consumer.
  static var consumers: Workload {
    Workload("consumers", summary: "N tasks consume the same events, per delivery") { settings in
      settings.sizes(or: [1, 10, 100]).map { AsyncConsumers(size: $0).experiment }
    }
  }
}

private struct AsyncConsumers {
  let size: Int

  private let events = 250

  var experiment: Experiment {
    Experiment(
      "consumers", detail: "N = \(size)", sampling: .few, requirements: requirements
    ) {
      [streams, hub, batches, share, channels]
    }
  }

  private var requirements: [Requirement] {
    guard size == 100 else { return [] }
    return [("AsyncStream each", 3.0), ("share()", 10.0)].map { rival, limit in
      Requirement("consumers, N = \(size), deliveries, of \(rival)", .atLeast(limit)) {
        $0.typicalRatio(rival, to: "EventHub")
      }
    }
  }

  private func measured(
    _ system: String, isBaseline: Bool = false, _ sample: @escaping (Int) throws -> [Double]
  ) -> Case {
    Case(
      system, size: size, isBaseline: isBaseline, metrics: [.time], iterations: events,
      sample: sample)
  }

  private var hub: Case {
    measured("EventHub") { events in
      let hub = EventHub<Tick>()
      let sequences = (0..<size).map { _ in hub.events() }
      return try Consumers.consume(sequences, "EventHub", events: events) {
        for _ in 0..<events { hub.send(1) }
        hub.finish()
      }
    }
  }

  private var batches: Case {
    measured("EventHub, batches") { events in
      let hub = EventHub<Tick>()
      let sequences = (0..<size).map { _ in hub.events().batches(upTo: 256) }
      return try Consumers.consumeBatches(sequences, "EventHub, batches", events: events) {
        for _ in 0..<events { hub.send(1) }
        hub.finish()
      }
    }
  }

  /// Their continuations under a lock.
  private var streams: Case {
    measured("AsyncStream each", isBaseline: true) { events in
      let broadcaster = StreamBroadcaster<Tick>(consumers: size)
      return try Consumers.consume(broadcaster.streams, "AsyncStream each", events: events) {
        for _ in 0..<events { broadcaster.send(1) }
        broadcaster.finish()
      }
    }
  }

  /// One `AsyncStream`, shared.
  private var share: Case {
    measured("share()") { events in
      let (stream, continuation) = AsyncStream.makeStream(of: Tick.self)
      let shared = stream.share(bufferingPolicy: .unbounded)
      let sequences = (0..<size).map { _ in shared }
      return try Consumers.consume(sequences, "share()", events: events) {
        for _ in 0..<events { continuation.yield(1) }
        continuation.finish()
      }
    }
  }

  /// A channel for each consumer, because a channel delivers an element once. The sender waits for
  /// each.
  private var channels: Case {
    measured("AsyncChannel each") { events in
      let channels = (0..<size).map { _ in AsyncChannel<Tick>() }
      return try Consumers.consume(channels, "AsyncChannel each", events: events) {
        AsyncWork.run {
          for _ in 0..<events {
            for channel in channels { await channel.send(1) }
          }
        }
        for channel in channels { channel.finish() }
      }
    }
  }
}
