internal import BenchmarkHarness

/// One event at a time to one consumer that waits for it: nothing can be taken in batches.
enum SparseConsumers {
  static var experiments: [Experiment] { [processorTime, latency] }

  /// On one thread, on which the consumer's task runs too: the cost of waking, passing the event,
  /// and falling asleep, without the scheduling of threads.
  private static var processorTime: Experiment {
    Experiment(
      "consumers/sparse", detail: "N = 1",
      requirements: [
        Requirement("consumers, one event at a time, time of AsyncStream", .atMost(1)) {
          $0.ratio("EventHub", to: "AsyncStream")
        }
      ]
    ) {
      SparseSystem.all.map { system in
        Case(
          system.name, size: 1, isBaseline: system.isBaseline, metrics: [.time], iterations: 2000
        ) { events in
          let (running, arrivals) = (system.make(), Arrivals(recordsTime: false))
          let executor = ThreadExecutor()
          // A preference, and not an actor: AsyncStream leaves the actor of its consumer.
          Task.detached(executorPreference: executor) { [consume = running.consume] in
            await consume(arrivals)
          }
          executor.runJobs()
          let start = ThreadClock.nanoseconds
          for _ in 0..<events {
            running.send(1)
            executor.runJobs()
          }
          let elapsed = ThreadClock.nanoseconds - start
          running.finish()
          executor.runJobs()
          try WrongResult.check(system.name, delivered: arrivals.received, expected: events)
          return [Double(elapsed) / Double(events)]
        }
      }
    }
  }

  private static let typical = Metric("median", unit: "ns")
  private static let rare = Metric("p99", unit: "ns")

  /// From `send`, on a thread, until a consumer on the global pool that was waiting has the event.
  private static var latency: Experiment {
    Experiment(
      "consumers/latency", detail: "N = 1", sampling: .few
    ) {
      SparseSystem.all.map { system in
        Case(
          system.name, size: 1, isBaseline: system.isBaseline, metrics: [typical, rare],
          iterations: 500
        ) { events in
          let (running, arrivals) = (system.make(), Arrivals(recordsTime: true))
          Task.detached { [consume = running.consume] in await consume(arrivals) }
          let times = (1...events).map { event in
            // Long enough for the consumer to fall asleep.
            let pause = MonotonicClock.nanoseconds + 20_000
            while MonotonicClock.nanoseconds < pause {}
            let start = MonotonicClock.nanoseconds
            running.send(1)
            while arrivals.received < event {}
            return Double(arrivals.time - start)
          }
          running.finish()
          let distribution = Distribution(times)
          return [distribution.median, distribution.percentile(99)]
        }
      }
    }
  }
}
