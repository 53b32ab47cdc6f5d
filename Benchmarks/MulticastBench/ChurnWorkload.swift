internal import BenchmarkHarness
internal import Multicast
internal import Synchronization

extension Workload {
  /// One thread emits while another adds and removes as fast as it can.
  static var churn: Workload {
    Workload("churn", summary: "one thread invokes, another adds and removes") { settings in
      [Ownership.strong, .weak].map { Churn(ownership: $0, settings: settings).experiment }
    }
  }
}

private struct Churn {
  let ownership: Ownership
  let settings: Settings

  private static let metrics = [
    Metric("emissions", unit: "k/s", largerIsBetter: true),
    Metric("add + remove", unit: "k/s", largerIsBetter: true),
    Metric("p99 emission", unit: "ns"),
    Metric("longest emission", unit: "ns"),
    // Of the emissions of a thread that nothing disturbs.
    Metric("share of undisturbed", unit: "", largerIsBetter: true),
  ]

  private let size = 10

  var experiment: Experiment {
    Experiment("churn/\(ownership)", detail: "N = \(size)", sampling: .few) {
      StorageStrategy.allCases.map(measured)
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = listeners.hub(storage, ownership)
    let ownership = ownership
    return Case(
      storage.rawValue, size: size, threads: 2, metrics: Self.metrics,
      iterations: settings.isQuick ? 20_000 : 50_000
    ) { iterations in
      let undisturbed = Emitter(hub, emissions: iterations)
      _ = ThreadTeam.run(1) { _ in undisturbed.run() }
      let emitter = Emitter(hub, emissions: iterations)
      let churner = Churner(hub, ownership)
      _ = ThreadTeam.run(2) { thread in
        if thread == 0 {
          emitter.run()
          churner.stop()
        } else {
          churner.run()
        }
      }
      try WrongResult.check(
        storage.rawValue, delivered: listeners.takeReceived(), expected: 2 * iterations * size)
      let latency = Distribution(emitter.latencies.map(Double.init))
      return [
        Double(iterations) / Double(emitter.elapsed) * 1e6,
        Double(churner.pairs) / Double(churner.elapsed) * 1e6,
        latency.percentile(99), latency.maximum,
        Double(undisturbed.elapsed) / Double(emitter.elapsed),
      ]
    }
  }
}

/// The thread that emits.
private final class Emitter: @unchecked Sendable {
  // Sendable: used by one thread, and by others after it was joined.
  private let hub: MulticastDelegate<any Observer>
  private(set) var latencies: [Int]
  private(set) var elapsed = 0

  init(_ hub: MulticastDelegate<any Observer>, emissions: Int) {
    self.hub = hub
    latencies = Array(repeating: 0, count: emissions)
  }

  func run() {
    let start = MonotonicClock.nanoseconds
    var last = start
    for emission in latencies.indices {
      hub.notifyAll()
      let now = MonotonicClock.nanoseconds
      latencies[emission] = now - last
      last = now
    }
    elapsed = last - start
  }
}

/// The thread that adds and removes a delegate of its own, over and over.
private final class Churner: @unchecked Sendable {
  // Sendable: `isStopped` is atomic; the rest is used by one thread, and by others after it was
  // joined.
  private let hub: MulticastDelegate<any Observer>
  private let ownership: Ownership
  private let isStopped = Atomic(false)
  private(set) var pairs = 0
  private(set) var elapsed = 0

  init(_ hub: MulticastDelegate<any Observer>, _ ownership: Ownership) {
    self.hub = hub
    self.ownership = ownership
  }

  func run() {
    let observer = makeObserver(opaque(0))
    let start = MonotonicClock.nanoseconds
    repeat {
      hub.add(observer, ownership: ownership).cancel()
      pairs += 1
    } while !isStopped.load(ordering: .relaxed)
    elapsed = MonotonicClock.nanoseconds - start
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }
}
