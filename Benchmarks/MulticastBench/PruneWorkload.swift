internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// Half of the delegates die; then the hub prunes them.
  static var prune: Workload {
    Workload("prune", summary: "half of N delegates die, per delegate that is left or dead") {
      settings in
      settings.sizes(or: [10_000]).map { size in
        Experiment("prune", detail: "N = \(size)", sampling: .few) {
          StorageStrategy.allCases.map { pruned($0, size) }
        }
      }
    }
  }

  private static func pruned(_ storage: StorageStrategy, _ size: Int) -> Case {
    Case(storage.rawValue, size: size, metrics: [.time], iterations: 1) { _ in
      var mortal: ContiguousArray<any Observer>? = []
      let immortal = Listeners((size + 1) / 2)
      let hub = MulticastDelegate<any Observer>(storage: storage)
      for survivor in immortal.observers {
        hub.add(survivor)
        guard let count = mortal?.count, count < size / 2 else { continue }
        let observer = makeObserver(opaque(count))
        hub.add(observer)
        mortal?.append(observer)
      }
      mortal = nil
      let start = ThreadClock.nanoseconds
      let pruned = hub.prune()
      let elapsed = ThreadClock.nanoseconds - start
      guard pruned == size / 2, hub.count == immortal.observers.count else {
        throw WrongResult("\(storage.rawValue) pruned \(pruned) of \(size / 2)")
      }
      return [Double(elapsed) / Double(size)]
    }
  }
}
