internal import BenchmarkHarness
internal import Dispatch
internal import Multicast

extension Workload {
  /// Delivery on queues, completion included, beside one `queue.async` for each delegate and event.
  static var queues: Workload {
    Workload("queue", summary: "delivery on queues, until every call has run, per delivery") { _ in
      [Ownership.strong, .weak].flatMap { ownership in
        [
          QueueDelivery(ownership: ownership, size: 100, load: .burst, sharesQueue: true)
            .experiment,
          QueueDelivery(ownership: ownership, size: 100, load: .burst, sharesQueue: false)
            .experiment,
          QueueDelivery(ownership: ownership, size: 1, load: .sparse, sharesQueue: true).experiment,
        ]
      }
    }
  }
}

private struct QueueDelivery {
  enum Load {
    /// Many events at once; then everything has to run.
    case burst
    /// Each event has run before the next one comes.
    case sparse
  }

  let ownership: Ownership
  let size: Int
  let load: Load
  let sharesQueue: Bool

  private static let rival = "async per call"

  var experiment: Experiment {
    let queues = sharesQueue ? "one queue" : "a queue each"
    return Experiment(
      "queue/\(ownership)/\(load), \(queues)", detail: "N = \(size)", requirements: requirements
    ) {
      [plain] + StorageStrategy.allCases.map(measured)
    }
  }

  private var requirements: [Requirement] {
    switch load {
    case .burst:
      let title = "queue, \(ownership), \(sharesQueue ? "one queue" : "a queue each"), deliveries"
      return [
        Requirement("\(title), of async per call", .atLeast(5)) {
          $0.typicalRatio(Self.rival, to: StorageStrategy.waitFree.rawValue)
        }
      ]
    case .sparse:
      return [
        Requirement("queue, \(ownership), sparse events, time of async per call", .atMost(1.1)) {
          $0.typicalRatio(StorageStrategy.waitFree.rawValue, to: Self.rival)
        }
      ]
    }
  }

  private var queues: [DispatchQueue] {
    let shared = DispatchQueue(label: "shared")
    return (0..<size).map { sharesQueue ? shared : DispatchQueue(label: "queue \($0)") }
  }

  /// The usual code.
  private var plain: Case {
    let listeners = Listeners(size)
    let pairs = ContiguousArray(zip(listeners.observers, queues))
    return timed(Self.rival, isBaseline: true, listeners) { iterations in
      for _ in 0..<iterations {
        for (observer, queue) in pairs {
          switch ownership {
          case .strong: queue.async { observer.notify(1) }
          case .weak: queue.async { [weak observer] in observer?.notify(1) }
          }
        }
        if load == .sparse { drain(pairs) }
      }
      drain(pairs)
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let pairs = ContiguousArray(zip(listeners.observers, queues))
    let hub = MulticastDelegate<any Observer>(storage: storage)
    for (observer, queue) in pairs { hub.add(observer, ownership: ownership, on: queue) }
    return timed(storage.rawValue, isBaseline: false, listeners) { iterations in
      for _ in 0..<iterations {
        hub.invoke { $0.notify(1) }
        if load == .sparse { drain(pairs) }
      }
      let isDone = hub.flush(timeout: .seconds(60))
      precondition(isDone, "a queue did not move")
    }
  }

  /// A case of a fixed number of events: how long a burst is matters.
  private func timed(
    _ system: String, isBaseline: Bool, _ listeners: Listeners, _ run: @escaping (Int) -> Void
  ) -> Case {
    Case(
      system, size: size, isBaseline: isBaseline, metrics: [.time],
      iterations: load == .burst ? 1000 : 2000
    ) { iterations in
      let start = MonotonicClock.nanoseconds
      run(iterations)
      let elapsed = MonotonicClock.nanoseconds - start
      try WrongResult.check(
        system, delivered: listeners.takeReceived(), expected: iterations * size)
      return [Double(elapsed) / Double(iterations * size)]
    }
  }

  /// Returns when every queue has run what was on it.
  private func drain(_ pairs: ContiguousArray<(any Observer & OpenObserver, DispatchQueue)>) {
    if sharesQueue { return pairs[0].1.sync {} }
    let group = DispatchGroup()
    for (_, queue) in pairs { queue.async(group: group) {} }
    group.wait()
  }
}
