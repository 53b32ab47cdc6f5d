internal import BenchmarkHarness
internal import Multicast
internal import Synchronization

extension Workload {
  /// How soon an object is destroyed whose only owner was the hub.
  static var removal: Workload {
    Workload("removal", summary: "from the removal of a strong delegate to its deinit") {
      settings in
      [false, true].map { Removal(hasInvoker: $0, settings: settings).experiment }
    }
  }
}

private struct Removal {
  /// Whether another thread invokes the hub all the time.
  let hasInvoker: Bool
  let settings: Settings

  private let size = 10
  private static let typical = Metric("median", unit: "ns")
  private static let rare = Metric("p99", unit: "ns")
  private static let longest = Metric("longest", unit: "ns")

  var experiment: Experiment {
    Experiment(
      hasInvoker ? "removal/invoking" : "removal/quiet", detail: "N = \(size)", sampling: .few,
      requirements: hasInvoker ? [] : [limit]
    ) {
      StorageStrategy.allCases.map(measured)
    }
  }

  private var limit: Requirement {
    Requirement("removal to deinit while no thread invokes, p99, in ns", .atMost(3000)) {
      $0.best("waitFree", Self.rare)
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = listeners.hub(storage, .strong)
    let threads = hasInvoker ? 2 : 1
    return Case(
      storage.rawValue, size: size, threads: threads,
      metrics: [Self.typical, Self.rare, Self.longest], iterations: settings.isQuick ? 300 : 2000
    ) { iterations in
      let remover = Remover(hub, removals: iterations)
      _ = ThreadTeam.run(threads) { thread in
        if thread == 0 { remover.run() } else { remover.invoke() }
      }
      _ = listeners.takeReceived()
      if threads == 1 {
        try WrongResult.check(
          "\(storage.rawValue), destroyed within the call", delivered: remover.destroyedInCall,
          expected: iterations)
      }
      let times = Distribution(remover.times.map(Double.init))
      return [times.median, times.percentile(99), times.maximum]
    }
  }
}

/// The thread that adds a delegate which only the hub keeps, and removes it.
private final class Remover: @unchecked Sendable {
  // Sendable: `isDone` is atomic; the rest is used by one thread, and by others after it was
  // joined.
  private let hub: MulticastDelegate<any Observer>
  private let isDone = Atomic(false)
  /// From each removal to the `deinit`.
  private(set) var times: [Int]
  /// The number of delegates that did not exist any more when the removal returned.
  private(set) var destroyedInCall = 0

  init(_ hub: MulticastDelegate<any Observer>, removals: Int) {
    self.hub = hub
    times = Array(repeating: 0, count: removals)
  }

  func run() {
    let death = TimeOfDeath()
    for removal in times.indices {
      death.clear()
      let registration = hub.add(MortalObserver(death), ownership: .strong)
      let start = MonotonicClock.nanoseconds
      registration.cancel()
      if death.time != nil { destroyedInCall += 1 }
      times[removal] = death.wait() - start
    }
    isDone.store(true, ordering: .relaxed)
  }

  /// The other thread: invokes until everything was removed.
  func invoke() {
    while !isDone.load(ordering: .relaxed) { hub.notifyAll() }
  }
}

/// When an object was destroyed.
private final class TimeOfDeath: Sendable {
  /// Zero: it exists.
  // Relaxed: the time itself is all that is passed.
  private let nanoseconds = Atomic(0)

  var time: Int? {
    let time = nanoseconds.load(ordering: .relaxed)
    return time == 0 ? nil : time
  }

  func clear() { nanoseconds.store(0, ordering: .relaxed) }

  func set() { nanoseconds.store(MonotonicClock.nanoseconds, ordering: .relaxed) }

  /// Waits until the object is destroyed.
  func wait() -> Int {
    while true {
      if let time { return time }
    }
  }
}

/// An observer that records when it is destroyed.
private final class MortalObserver: Observer {
  private let death: TimeOfDeath

  init(_ death: TimeOfDeath) {
    self.death = death
  }

  deinit { death.set() }

  func notify(_ event: Int) {}
  func answer(_ event: Int) -> Int { event }
  func takeReceived() -> Int { 0 }
}
