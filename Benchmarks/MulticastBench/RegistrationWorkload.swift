internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// Adding delegates one by one to an empty hub, then removing each by its registration.
  static var registration: Workload {
    Workload("registration", summary: "add N one by one, remove each, per operation") { settings in
      [Ownership.weak, .strong].map {
        RegistrationCost(ownership: $0, settings: settings).experiment
      }
    }
  }
}

private struct RegistrationCost {
  let ownership: Ownership
  let settings: Settings

  private static let add = Metric("add", unit: "ns")
  private static let remove = Metric("remove", unit: "ns")
  private static let both = Metric("add + remove", unit: "ns")
  private static let small = 1000
  private static let large = 100_000

  var experiment: Experiment {
    Experiment(
      "registration/\(ownership)", sampling: .few, requirements: requirements
    ) {
      settings.sizes(or: [10, 100, Self.small, 10_000, Self.large]).flatMap { size in
        StorageStrategy.allCases.map { measured($0, size) }
      }
    }
  }

  private var requirements: [Requirement] {
    [Self.add, Self.remove].flatMap { metric in
      let title = "\(metric.name), \(ownership), up to \(Self.large)"
      return [
        Requirement("\(title), in ns", .atMost(1000)) {
          $0.best("waitFree", size: Self.large, metric)
        },
        Requirement("\(title), of up to \(Self.small)", .atMost(3)) {
          guard
            let small = $0.best("waitFree", size: Self.small, metric),
            let large = $0.best("waitFree", size: Self.large, metric)
          else { return nil }
          return large / small
        },
      ]
    }
  }

  private func measured(_ storage: StorageStrategy, _ size: Int) -> Case {
    let observers = Listeners(size).observers
    let ownership = ownership
    // As many hubs, one after the other, as make a sample long enough.
    let hubs = max(1, 10_000 / size)
    return Case(
      storage.rawValue, size: size, metrics: [Self.add, Self.remove, Self.both], iterations: hubs
    ) { hubs in
      var adding = 0
      var removing = 0
      // The clock takes half a microsecond: one reading for so many hubs that it does not count.
      let most = max(1, 1000 / size)
      for first in stride(from: 0, to: hubs, by: most) {
        let group = (first..<min(first + most, hubs)).map { _ in
          MulticastDelegate<any Observer>(storage: storage)
        }
        var registrations: [Registration<any Observer>] = []
        registrations.reserveCapacity(group.count * size)
        let start = ThreadClock.nanoseconds
        for hub in group {
          for observer in observers {
            registrations.append(hub.add(observer, ownership: ownership))
          }
        }
        let middle = ThreadClock.nanoseconds
        let counts = group.map(\.count)
        let restart = ThreadClock.nanoseconds
        for registration in registrations { registration.cancel() }
        removing += ThreadClock.nanoseconds - restart
        adding += middle - start
        guard counts.allSatisfy({ $0 == size }), group.allSatisfy(\.isEmpty) else {
          throw WrongResult(
            "\(storage.rawValue) holds \(counts) of \(size), then \(group.map(\.count))")
        }
      }
      let operations = Double(hubs * size)
      return [adding, removing, adding + removing].map { Double($0) / operations }
    }
  }
}
