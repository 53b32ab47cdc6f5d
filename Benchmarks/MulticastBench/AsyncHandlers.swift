internal import BenchmarkHarness
internal import Dispatch
internal import Multicast

/// Asynchronous handlers of an `EventHub`, beside an `AsyncStream` and a task for each.
struct AsyncHandlers {
  let size: Int

  var experiment: Experiment {
    Experiment(
      "consumers/handlers", detail: "N = \(size)",
      requirements: [
        Requirement("asynchronous handlers, N = \(size), calls, of AsyncStream", .atLeast(3)) {
          $0.typicalRatio("AsyncStream", to: "EventHub")
        }
      ]
    ) {
      [streams, hub]
    }
  }

  private var streams: Case {
    measured("AsyncStream", isBaseline: true) { handlers, events in
      let broadcaster = StreamBroadcaster<Tick>(consumers: size)
      for (stream, handler) in zip(broadcaster.streams, handlers) {
        Task.detached { for await event in stream { await handler.handle(event) } }
      }
      return {
        for _ in 0..<events { broadcaster.send(1) }
        broadcaster.finish()
      }
    }
  }

  private var hub: Case {
    measured("EventHub", isBaseline: false) { handlers, events in
      let hub = EventHub<Tick>()
      let subscriptions = handlers.map { handler in
        hub.subscribe { event in await handler.handle(event) }
      }
      return {
        for _ in 0..<events { hub.send(1) }
        withExtendedLifetime(subscriptions) {}
      }
    }
  }

  /// - Parameter start: makes receivers that call these handlers, and returns what sends as many
  ///   events.
  private func measured(
    _ system: String, isBaseline: Bool, start: @escaping ([Handler], Int) -> () -> Void
  ) -> Case {
    Case(system, size: size, isBaseline: isBaseline, metrics: [.time], iterations: 1000) { events in
      let ended = DispatchGroup()
      let handlers = (0..<size).map { _ in Handler(events, ended) }
      let send = start(handlers, events)
      let began = MonotonicClock.nanoseconds
      send()
      ended.wait()
      let elapsed = MonotonicClock.nanoseconds - began
      let delivered = handlers.reduce(0) { $0 + $1.sum }
      try WrongResult.check(system, delivered: delivered, expected: events * size)
      return [Double(elapsed) / Double(events * size)]
    }
  }
}

/// Handles a number of events, one at a time.
private final class Handler: @unchecked Sendable {
  // Sendable: one task at a time calls `handle`, and `sum` is read after all events were handled.

  private(set) var sum = 0
  private var left: Int
  private let ended: DispatchGroup

  init(_ events: Int, _ ended: DispatchGroup) {
    left = events
    self.ended = ended
    ended.enter()
  }

  /// Not inlined: a handler of a program does more than to add.
  @inline(never)
  func handle(_ event: Tick) async {
    sum &+= event.number
    left -= 1
    if left == 0 { ended.leave() }
  }
}
