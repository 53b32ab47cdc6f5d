internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// The price of amortisation: the one call that pays for the others.
  static var compaction: Workload {
    Workload("compaction", summary: "the longest single add and forEach at N delegates") {
      settings in
      settings.sizes(or: [100_000]).map { size in
        Experiment("compaction", detail: "N = \(size)", sampling: .few) {
          StorageStrategy.allCases.map { longest($0, size) }
        }
      }
    }
  }

  private static let metrics = [
    Metric("longest add", unit: "us"),
    Metric("forEach", unit: "us"),
    Metric("forEach with half dead", unit: "us"),
    Metric("longest remove", unit: "us"),
  ]

  private static func longest(_ storage: StorageStrategy, _ size: Int) -> Case {
    Case(storage.rawValue, size: size, metrics: metrics, iterations: 1) { _ in
      let survivors = Listeners((size + 1) / 2)
      var mortal: Listeners? = Listeners(size / 2)
      let hub = MulticastDelegate<any Observer>(storage: storage)
      var registrations: [Registration<any Observer>] = []
      registrations.reserveCapacity(size)
      var longestAdd = 0
      for observer in survivors.observers + mortal!.observers {
        longestAdd = max(longestAdd, nanoseconds { registrations.append(hub.add(observer)) })
      }
      let visiting = nanoseconds { hub.notifyAll() }
      let received = survivors.takeReceived() + mortal!.takeReceived()
      try WrongResult.check(storage.rawValue, delivered: received, expected: size)
      mortal = nil
      let pruning = nanoseconds { hub.notifyAll() }
      let expected = survivors.observers.count
      try WrongResult.check(
        storage.rawValue, delivered: survivors.takeReceived(), expected: expected)
      var longestRemove = 0
      for registration in registrations {
        longestRemove = max(longestRemove, nanoseconds { registration.cancel() })
      }
      guard hub.isEmpty else { throw WrongResult("\(storage.rawValue) still holds \(hub.count)") }
      return [longestAdd, visiting, pruning, longestRemove].map { Double($0) / 1000 }
    }
  }

  private static func nanoseconds(_ body: () -> Void) -> Int {
    let start = ThreadClock.nanoseconds
    body()
    return ThreadClock.nanoseconds - start
  }
}
