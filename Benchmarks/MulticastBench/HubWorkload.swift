internal import BenchmarkHarness
internal import Dispatch
internal import Multicast
internal import Synchronization

extension Workload {
  /// `EventHub.send` to handlers, beside a loop over closures.
  static var hub: Workload {
    Workload("hub", summary: "an EventHub sends to N handlers, per delivery") { settings in
      settings.sizes(or: [1, 10, 100, 1000]).map { HubHandlers(size: $0).experiment }
    }
  }

  /// `EventHub.send` to asynchronous sequences, beside an `AsyncStream` for each consumer.
  static var consumers: Workload {
    Workload("consumers", summary: "N tasks consume the events of an EventHub, per delivery") { _ in
      [HubConsumers(size: 100).experiment, StalledConsumers(size: 100).experiment].compactMap { $0 }
    }
  }
}

private struct HubHandlers {
  let size: Int

  var experiment: Experiment {
    let requirements =
      size >= 100
      ? [
        Requirement("hub, N = \(size), of a loop over closures", .atMost(2)) {
          $0.ratio("waitFree", to: "closures")
        }
      ] : []
    return Experiment("hub/handlers", detail: "N = \(size)", requirements: requirements) {
      [closures] + StorageStrategy.allCases.map(measured)
    }
  }

  private var closures: Case {
    let listeners = Listeners(size)
    let handlers = ContiguousArray(listeners.observers.map(handler))
    return Case(
      "closures", size: size, isBaseline: true, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations {
        for handler in handlers { handler(1) }
      }
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = EventHub<Int>(storage: storage)
    let subscriptions = listeners.observers.map { hub.subscribe(handler($0)) }
    return Case(
      storage.rawValue, size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations { hub.send(1) }
      withExtendedLifetime(subscriptions) {}
    }
  }

  private func handler(_ observer: any Observer) -> @Sendable (Int) -> Void {
    { observer.notify($0) }
  }
}

private struct HubConsumers {
  let size: Int

  var experiment: Experiment {
    Experiment(
      "consumers/sequences", detail: "N = \(size)",
      requirements: [
        Requirement("consumers, N = \(size), deliveries, of AsyncStream", .atLeast(3)) {
          $0.ratio("AsyncStream", to: "EventHub")
        }
      ]
    ) {
      [streams, hub]
    }
  }

  private var streams: Case {
    Case("AsyncStream", size: size, isBaseline: true, metrics: [.time], iterations: 1000) {
      iterations in
      let streams = (0..<size).map { _ in AsyncStream.makeStream(of: Int.self) }
      let continuations = Locked(streams.map(\.continuation))
      return try measure(
        iterations, streams.map(\.stream),
        send: { event in
          for continuation in continuations.value { continuation.yield(event) }
        },
        finish: { for continuation in continuations.value { continuation.finish() } })
    }
  }

  private var hub: Case {
    Case("EventHub", size: size, metrics: [.time], iterations: 1000) { iterations in
      let hub = EventHub<Int>()
      let sequences = (0..<size).map { _ in hub.events() }
      return try measure(
        iterations, sequences, send: { hub.send($0) }, finish: { hub.finish() })
    }
  }

  private func measure<Events: AsyncSequence & Sendable>(
    _ iterations: Int, _ sequences: [Events], send: @escaping @Sendable (Int) -> Void,
    finish: @escaping @Sendable () -> Void
  ) throws -> [Double] where Events.Element == Int, Events.Failure == Never {
    let received = ConsumerTotal()
    let group = DispatchGroup()
    let start = MonotonicClock.nanoseconds
    for events in sequences {
      group.enter()
      Task {
        var sum = 0
        for await event in events { sum &+= event }
        received.add(sum)
        group.leave()
      }
    }
    for _ in 0..<iterations { send(1) }
    finish()
    group.wait()
    let elapsed = MonotonicClock.nanoseconds - start
    let expected = iterations * sequences.count
    try WrongResult.check("a consumer", delivered: received.value, expected: expected)
    return [Double(elapsed) / Double(expected)]
  }
}

/// One consumer of many has stalled: what becomes of the others?
private struct StalledConsumers {
  let size: Int

  var experiment: Experiment? {
    let names = ["dropOldest", "dropNewest", "suspend", "disconnect", "latest", "coalescing"]
    return Experiment(
      "consumers/stalled", detail: "N = \(size)",
      requirements: names.map { name in
        Requirement("consumers, one stalled with \(name), rate of the others", .atLeast(0.9)) {
          $0.ratio("none", to: name)
        }
      }
    ) {
      [
        measured("none", nil, isBaseline: true),
        measured("dropOldest", .bounded(16, whenFull: .dropOldest)),
        measured("dropNewest", .bounded(16, whenFull: .dropNewest)),
        measured("suspend", .bounded(16, whenFull: .suspend)),
        measured("disconnect", .bounded(16, whenFull: .disconnect)),
        measured("latest", .latest),
        measured("coalescing", .coalescing { $0 % 4 }),
      ]
    }
  }

  private func measured(
    _ name: String, _ policy: BufferingPolicy<Int>?, isBaseline: Bool = false
  ) -> Case {
    Case(name, size: size, isBaseline: isBaseline, metrics: [.time], iterations: 1000) {
      iterations in
      let hub = EventHub<Int>()
      let stalled = policy.map { hub.events(buffering: $0) }
      let received = ConsumerTotal()
      let group = DispatchGroup()
      let others = policy == nil ? size : size - 1
      let sequences = (0..<others).map { _ in hub.events() }
      let start = MonotonicClock.nanoseconds
      for events in sequences {
        group.enter()
        Task {
          var sum = 0
          for await event in events { sum &+= event }
          received.add(sum)
          group.leave()
        }
      }
      for _ in 0..<iterations { hub.send(1) }
      hub.finish()
      group.wait()
      let elapsed = MonotonicClock.nanoseconds - start
      withExtendedLifetime(stalled) {}
      try WrongResult.check(name, delivered: received.value, expected: iterations * others)
      return [Double(elapsed) / Double(iterations * others)]
    }
  }
}

/// A sum to which each consumer adds once, at its end.
private final class ConsumerTotal: Sendable {
  private let sum = Atomic(0)

  // Relaxed: it is read after the group has been waited for.
  func add(_ value: Int) { sum.wrappingAdd(value, ordering: .relaxed) }

  var value: Int { sum.load(ordering: .relaxed) }
}

/// The continuations under a lock, as a hand-written broadcaster keeps them.
private final class Locked<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) {
    mutex = Mutex(value)
  }

  var value: Value { mutex.withLock { $0 } }
}
