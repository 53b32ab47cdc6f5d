internal import BenchmarkHarness
internal import Foundation
internal import Multicast
internal import Synchronization

extension Workload {
  /// Handlers that belong to an actor, beside a task for each event and handler.
  static var isolation: Workload {
    Workload("isolation", summary: "an EventHub sends to N handlers of an actor, per delivery") {
      settings in
      settings.sizes(or: [1, 100]).flatMap { size in
        [
          IsolatedHandlers(size: size, events: 1000, isMain: true).experiment,
          IsolatedHandlers(size: size, events: 1000, isMain: false).experiment,
        ]
      } + [
        IsolatedHandlers(size: 1, events: 1, isMain: true).experiment,
        IsolatedHandlers(size: 1, events: 1, isMain: false).experiment,
        IsolatedHandlers(size: 1, events: 1, gap: 50_000, isMain: true).experiment,
        IsolatedHandlers(size: 1, events: 1, gap: 50_000, isMain: false).experiment,
      ]
    }
  }
}

private struct IsolatedHandlers {
  let size: Int
  /// The number of events in a burst; with 1, each event is handled before the next is sent.
  let events: Int
  /// The nanoseconds between events that come alone, in which the actor becomes idle.
  var gap = 0
  let isMain: Bool

  private var place: String { isMain ? "main actor" : "actor" }

  var experiment: Experiment {
    Experiment(
      "isolation/\(load)/\(isMain ? "main" : "instance")",
      detail: "N = \(size)",
      requirements: requirements
    ) {
      [tasks, hub]
    }
  }

  private var load: String { events > 1 ? "burst" : gap == 0 ? "sparse" : "idle" }

  private var requirements: [Requirement] {
    if gap > 0 {
      return [
        Requirement("isolation, \(place), event to an idle actor, of a task", .atMost(1.1)) {
          $0.typicalRatio("EventHub", to: "Task")
        }
      ]
    }
    if events == 1 {
      return [
        Requirement("isolation, \(place), sparse event, of a task", .atMost(1)) {
          $0.typicalRatio("EventHub", to: "Task")
        }
      ]
    }
    guard size >= 100 else { return [] }
    return [
      Requirement("isolation, \(place), N = \(size), burst, of a task each", .atMost(0.05)) {
        $0.typicalRatio("EventHub", to: "Task")
      }
    ]
  }

  private var tasks: Case {
    sampled("Task", isBaseline: true) { sums, burst in
      if isMain {
        for event in 0..<burst {
          for sum in sums { Task { @MainActor in sum.add(event) } }
        }
      } else {
        let home = Home.shared
        for event in 0..<burst {
          for sum in sums { Task { await home.add(event, to: sum) } }
        }
      }
    }
  }

  private var hub: Case {
    let hub = EventHub<Tick>()
    let holder = SumHolder()
    return sampled("EventHub", isBaseline: false) { sums, burst in
      if holder.subscriptions.isEmpty {
        holder.subscriptions = sums.map { sum in
          isMain
            ? hub.subscribe(on: .main) { sum.add($0.number) }
            : hub.subscribe(with: Home.shared) { _, event in sum.add(event.number) }
        }
      }
      for event in 0..<burst { hub.send(Tick(integerLiteral: event)) }
    }
  }

  /// Measures bursts, from the first event until the last handler was called.
  private func sampled(
    _ system: String, isBaseline: Bool, send: @escaping ([Sum], Int) -> Void
  ) -> Case {
    let sums = (0..<size).map { _ in Sum() }
    let bursts = events == 1 ? 2000 : max(1, 20 / size)
    return Case(
      system, size: size, isBaseline: isBaseline, metrics: [.time], iterations: bursts
    ) { iterations in
      let before = sums.map(\.count)
      var elapsed = 0
      for iteration in 1...iterations {
        if gap > 0 { MonotonicClock.wait(gap) }
        let start = MonotonicClock.nanoseconds
        send(sums, events)
        for (sum, before) in zip(sums, before) {
          sum.wait(for: before + iteration * events)
        }
        elapsed += MonotonicClock.nanoseconds - start
      }
      let delivered = zip(sums, before).map { $0.count - $1 }.reduce(0, +)
      try WrongResult.check(system, delivered: delivered, expected: iterations * events * size)
      return [Double(elapsed) / Double(delivered)]
    }
  }
}

/// The actor of the handlers.
private actor Home {
  static let shared = Home()

  func add(_ event: Int, to sum: Sum) { sum.add(event) }
}

/// What one handler has received.
private final class Sum: Sendable {
  private let total = Atomic<Int>(0)
  private let calls = Atomic<Int>(0)

  /// Called by one thread at a time.
  func add(_ event: Int) {
    total.store(total.load(ordering: .relaxed) &+ event, ordering: .relaxed)
    // Releasing: the thread that waits for the call finds the total.
    calls.store(calls.load(ordering: .relaxed) + 1, ordering: .releasing)
  }

  var count: Int { calls.load(ordering: .acquiring) }

  /// Returns when so many events have arrived.
  func wait(for expected: Int) {
    while count < expected { sched_yield() }
  }
}

private final class SumHolder {
  var subscriptions: [EventSubscription] = []
}
