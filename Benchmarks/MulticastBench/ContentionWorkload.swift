internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// Several threads on one hub. The work is the same however many share it, and no handler writes
  /// anything: whatever slows the threads down is the hub.
  static var contention: Workload {
    Workload("contention", summary: "threads invoke one hub, the total work is constant") {
      settings in
      [Ownership.strong, .weak].map { Contention(ownership: $0, settings: settings).experiment }
    }
  }
}

private struct Contention {
  let ownership: Ownership
  let settings: Settings

  private static let throughput = Metric("throughput", unit: "M/s", largerIsBetter: true)

  private let size = 10

  var experiment: Experiment {
    Experiment(
      "contention/\(ownership)", detail: "N = \(size)", sampling: .many,
      requirements: requirements
    ) {
      let listeners = Listeners(size)
      let floor = floor()
      let hubs = StorageStrategy.allCases.map { ($0.rawValue, listeners.hub($0, ownership)) }
      return settings.threads(or: [1, 2, 4, 8]).flatMap { threads in
        [measured(floor.name, threads, isBaseline: true, emit: floor.emit)]
          + hubs.map { name, hub in
            measured(name, threads) {
              withExtendedLifetime(listeners) {}
              return answers(hub, $0)
            }
          }
      }
    }
  }

  /// With observers of its own: a weak reference of Swift's makes an object slower for life.
  private func floor() -> (name: String, emit: @Sendable (Int) -> Int) {
    let listeners = Listeners(size)
    switch ownership {
    case .strong:
      let list = BareList<any Observer>(listeners.observers.map { $0 })
      return ("floor", { BareLoop.answers(list, $0) })
    case .weak:
      let list = BareWeakList(listeners.observers)
      return (
        "weak floor",
        {
          withExtendedLifetime(listeners) {}
          return BareLoop.answers(list, $0)
        }
      )
    }
  }

  /// Where a second processor is free, the floor's throughput doubles. Where others use it, the
  /// floor gains less, and so does any hub: what counts is the gain in relation to the floor's.
  private var requirements: [Requirement] {
    guard ownership == .strong else { return [] }
    let title = "throughput of 2 threads, strong, N = \(size), if the floor's doubles"
    return [
      Requirement(title, .atLeast(1.7)) {
        guard let own = Self.gain("waitFree", $0), let floor = Self.gain("floor", $0) else {
          return nil
        }
        return 2 * own / floor
      }
    ]
  }

  /// The throughput of two threads, as a multiple of that of one.
  private static func gain(_ system: String, _ outcome: Outcome) -> Double? {
    guard
      let one = outcome.best(system, threads: 1, throughput),
      let two = outcome.best(system, threads: 2, throughput)
    else { return nil }
    return two / one
  }

  private func measured(
    _ system: String, _ threads: Int, isBaseline: Bool = false,
    emit: @escaping @Sendable (Int) -> Int
  ) -> Case {
    let size = size
    return Case(
      system, size: size, threads: threads, isBaseline: isBaseline, metrics: [Self.throughput],
      // Short, to end before it is preempted; and a sample of the floor takes
      // about as long as one of the default strategy.
      iterations: isBaseline ? (ownership == .strong ? 12_000 : 1500) : 4000
    ) { iterations in
      let delivered = Tally()
      let elapsed = ThreadTeam.run(threads) { thread in
        // A share each, and what is left over for the first ones.
        let share = iterations / threads + (thread < iterations % threads ? 1 : 0)
        delivered.add(emit(share))
      }
      try WrongResult.check(system, delivered: delivered.value, expected: iterations * size)
      return [Double(iterations * size) / Double(elapsed) * 1000]
    }
  }
}

@inline(never)
private func answers(_ hub: MulticastDelegate<any Observer>, _ iterations: Int) -> Int {
  var sum = 0
  for _ in 0..<iterations { sum &+= hub.sumOfAnswers() }
  return sum
}
