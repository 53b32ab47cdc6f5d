internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// `EventHub.send` to handlers, beside loops over closures.
  static var hub: Workload {
    Workload("hub", summary: "an EventHub sends to N handlers, per delivery") { settings in
      settings.sizes(or: [1, 10, 100, 1000]).map { HubHandlers(size: $0).experiment }
    }
  }
}

private struct HubHandlers {
  let size: Int

  var experiment: Experiment {
    let requirements =
      size >= 100
      ? [
        Requirement("hub, N = \(size), of a for loop over closures", .atMost(2)) {
          $0.ratio("waitFree", to: "for loop")
        },
        Requirement("measuring handlers, N = \(size), ns per delivery", .atMost(10)) {
          guard let timed = $0.best("waitFree, timed"), let plain = $0.best("waitFree") else {
            return nil
          }
          return timed - plain
        },
      ] : []
    return Experiment("hub/handlers", detail: "N = \(size)", requirements: requirements) {
      [floor, loop, timed] + StorageStrategy.allCases.map(measured)
    }
  }

  /// In a hub that measures its handlers: the default, one of 64 calls.
  private var timed: Case {
    let listeners = Listeners(size)
    let hub = EventHub<Int>()
    hub.measureHandlers()
    let subscriptions = listeners.observers.map { observer in
      hub.subscribe { observer.notify($0) }
    }
    return Case(
      "waitFree, timed", size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations { hub.send(1) }
      withExtendedLifetime(subscriptions) {}
    }
  }

  /// Read through a pointer: no closure is retained for its call.
  private var floor: Case {
    let listeners = Listeners(size)
    let slots = UnsafeMutablePointer<Handler>.allocate(capacity: size)
    for (index, observer) in listeners.observers.enumerated() {
      (slots + index).initialize(to: Handler(body: handler(observer)))
    }
    return Case(
      "floor", size: size, isBaseline: true, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations {
        for index in 0..<size { slots[index].call(1) }
      }
    }
  }

  /// The usual loop: each closure is retained for its call.
  private var loop: Case {
    let listeners = Listeners(size)
    let handlers = ContiguousArray(listeners.observers.map(handler))
    return Case(
      "for loop", size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations {
        for handler in handlers { handler(1) }
      }
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = EventHub<Int>(storage: storage)
    // A closure, as users write it: a function in a variable would be called through two others.
    let subscriptions = listeners.observers.map { observer in
      hub.subscribe { observer.notify($0) }
    }
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

/// A closure that is not copied in order to be called.
private struct Handler: ~Copyable {
  let body: @Sendable (Int) -> Void

  borrowing func call(_ event: Int) { body(event) }
}
