internal import BenchmarkHarness

extension Workload {
  /// One thread notifies while another adds and removes as fast as it can.
  static var churn: Workload {
    Workload("churn", summary: "one thread notifies, another adds and removes") { settings in
      [false, true].map { Churn(isWeak: $0, settings: settings).experiment }
    }
  }
}

private struct Churn {
  let isWeak: Bool
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
    Experiment("churn/\(isWeak ? "weak" : "strong")", detail: "N = \(size)", sampling: .few) {
      Peer.all.filter(\.isThreadSafe).compactMap(measured)
        + (isWeak ? [] : [java].compactMap(\.self))
    }
  }

  private var java: Case? {
    guard let process = JavaProcess.shared else { return nil }
    return Case(
      JavaProcess.name, size: size, threads: 2, metrics: Self.metrics,
      // Long enough for the other thread to start.
      iterations: settings.isQuick ? 50_000 : 200_000
    ) { iterations in
      let answer = try process.ask("churn \(size) \(iterations)", answers: 7)
      let (undisturbed, emitting, pairs, churning) = (answer[0], answer[1], answer[2], answer[3])
      try WrongResult.check(
        JavaProcess.name, delivered: answer[6], expected: 2 * iterations * size)
      return [
        Double(iterations) / Double(emitting) * 1e6, Double(pairs) / Double(churning) * 1e6,
        Double(answer[4]), Double(answer[5]), Double(undisturbed) / Double(emitting),
      ]
    }
  }

  private func measured(_ peer: Peer) -> Case? {
    guard let rival = peer.make(isWeak: isWeak, .notify) else { return nil }
    let listeners = Listeners(size)
    let registrations = listeners.register(with: rival)
    return Case(
      peer.name, size: size, threads: 2, metrics: Self.metrics,
      iterations: settings.isQuick ? 5000 : 20_000
    ) { iterations in
      let undisturbed = Emitter(rival, emissions: iterations)
      _ = ThreadTeam.run(1) { _ in undisturbed.run() }
      let emitter = Emitter(rival, emissions: iterations)
      let churner = Churner(rival)
      _ = ThreadTeam.run(2) { thread in
        if thread == 0 {
          emitter.run()
          churner.stop()
        } else {
          churner.run()
        }
      }
      withExtendedLifetime(registrations) {}
      try WrongResult.check(
        peer.name, delivered: listeners.takeReceived(), expected: 2 * iterations * size)
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

/// The thread that notifies.
private final class Emitter: @unchecked Sendable {
  // Sendable: used by one thread, and by others after it was joined.
  private let rival: any Rival
  private(set) var latencies: [Int]
  private(set) var elapsed = 0

  init(_ rival: any Rival, emissions: Int) {
    self.rival = rival
    latencies = Array(repeating: 0, count: emissions)
  }

  func run() {
    let start = MonotonicClock.nanoseconds
    rival.emit(&latencies)
    elapsed = MonotonicClock.nanoseconds - start
  }
}

/// The thread that adds and removes an observer of its own, over and over.
private final class Churner: @unchecked Sendable {
  // Sendable: the flag is atomic; the rest is used by one thread, and by others after it was
  // joined.
  private let rival: any Rival
  private let flag = StopFlag()
  private(set) var pairs = 0
  private(set) var elapsed = 0

  init(_ rival: any Rival) {
    self.rival = rival
  }

  func run() {
    let observer = makeObserver(opaque(0))
    let start = MonotonicClock.nanoseconds
    pairs = rival.churn(observer, until: flag)
    elapsed = MonotonicClock.nanoseconds - start
  }

  func stop() { flag.set() }
}
