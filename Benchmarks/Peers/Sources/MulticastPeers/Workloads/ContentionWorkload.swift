internal import BenchmarkHarness

extension Workload {
  /// Several threads on one system. The total work is the same for any number of threads, and no
  /// observer writes anything: only the system slows the threads down.
  static var contention: Workload {
    Workload("contention", summary: "threads ask N observers, the total work is constant") {
      settings in
      [false, true].map { Contention(isWeak: $0, settings: settings).experiment }
    }
  }
}

private struct Contention {
  let isWeak: Bool
  let settings: Settings

  private let size = 10
  private static let throughput = Metric("throughput", unit: "M/s", largerIsBetter: true)

  var experiment: Experiment {
    Experiment("contention/\(isWeak ? "weak" : "strong")", detail: "N = \(size)") {
      settings.threads(or: [1, 2, 4, 8]).flatMap { threads in
        [bare(threads)]
          + Peer.all.filter(\.isThreadSafe).compactMap { measured($0, threads) }
          + (isWeak ? [] : [java(threads)].compactMap(\.self))
      }
    }
  }

  private func bare(_ threads: Int) -> Case {
    let listeners = Listeners(size)
    if isWeak {
      let list = BareWeakList(listeners.observers)
      return timed("weak floor", threads, isBaseline: true, iterations: 1500) {
        withExtendedLifetime(listeners) {}
        return BareLoop.answers(list, $0)
      }
    }
    let list = BareList<any Observer>(listeners.observers.map { $0 })
    return timed("floor", threads, isBaseline: true, iterations: 12_000) {
      BareLoop.answers(list, $0)
    }
  }

  private func java(_ threads: Int) -> Case? {
    guard let process = JavaProcess.shared else { return nil }
    let size = size
    return Case(
      JavaProcess.name, size: size, threads: threads, metrics: [Self.throughput], iterations: 12_000
    ) { iterations in
      let answer = try process.ask("contention \(size) \(threads) \(iterations)", answers: 2)
      try WrongResult.check(
        JavaProcess.name, delivered: answer[1], expected: iterations * size)
      return [Double(iterations * size) / Double(answer[0]) * 1000]
    }
  }

  private func measured(_ peer: Peer, _ threads: Int) -> Case? {
    guard let rival = peer.make(isWeak: isWeak, .answer) else { return nil }
    let listeners = Listeners(size)
    let registrations = Shared(listeners.register(with: rival))
    // About as long as the floor: short, to end before it is preempted.
    return timed(peer.name, threads, iterations: peer.name == Peer.ours ? 4000 : 800) {
      withExtendedLifetime((listeners, registrations)) {}
      return rival.answers($0)
    }
  }

  private func timed(
    _ system: String, _ threads: Int, isBaseline: Bool = false, iterations: Int,
    ask: @escaping @Sendable (Int) -> Int
  ) -> Case {
    let size = size
    return Case(
      system, size: size, threads: threads, isBaseline: isBaseline,
      metrics: [Self.throughput], iterations: iterations
    ) { iterations in
      let delivered = Tally()
      let elapsed = ThreadTeam.run(threads) { thread in
        // A share each, and what is left over for the first ones.
        let share = iterations / threads + (thread < iterations % threads ? 1 : 0)
        delivered.add(ask(share))
      }
      try WrongResult.check(system, delivered: delivered.value, expected: iterations * size)
      return [Double(iterations * size) / Double(elapsed) * 1000]
    }
  }
}

/// Holds a value that is not used.
private final class Shared: @unchecked Sendable {
  // Sendable: nothing can be done with `value`.
  private let value: AnyObject

  init(_ value: AnyObject) { self.value = value }
}
