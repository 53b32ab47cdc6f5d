internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// What it costs to measure the calls of delegates: the default, one of 64 calls is timed.
  static var timing: Workload {
    Workload("timing", summary: "measuring the calls of N delegates, per delivery") { settings in
      settings.sizes(or: [1, 100, 1000]).flatMap { size in
        [Ownership.strong, .weak].map { DelegateTiming(ownership: $0, size: size).experiment }
      }
    }
  }
}

private struct DelegateTiming {
  let ownership: Ownership
  let size: Int

  var experiment: Experiment {
    // A strong delegate is otherwise called without a retain, in 2 ns.
    let requirement = Requirement(
      "measuring \(ownership) delegates, N = \(size), ns per delivery",
      .atMost(ownership == .weak ? 10 : 15)
    ) {
      guard let timed = $0.best("timed"), let plain = $0.best("plain") else { return nil }
      return timed - plain
    }
    return Experiment(
      "timing/\(ownership)", detail: "N = \(size)", requirements: size >= 100 ? [requirement] : []
    ) {
      [calls("plain", isMeasured: false), calls("timed", isMeasured: true)]
    }
  }

  private func calls(_ system: String, isMeasured: Bool) -> Case {
    let listeners = Listeners(size)
    let hub = MulticastDelegate<any Observer>()
    if isMeasured { hub.measureDelegates() }
    for observer in listeners.observers { hub.add(observer, ownership: ownership) }
    return Case(
      system, size: size, isBaseline: !isMeasured, deliveries: size,
      delivered: listeners.takeReceived
    ) { iterations in
      forEach(hub, iterations)
    }
  }
}

@inline(never)
private func forEach(_ hub: MulticastDelegate<any Observer>, _ iterations: Int) {
  for _ in 0..<iterations { hub.notifyAll() }
}
