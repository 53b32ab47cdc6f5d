internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// `EventHub.send` to handlers, beside loops over closures.
  static var hub: Workload {
    Workload("hub", summary: "an EventHub sends to N handlers, per delivery") { settings in
      // With one class of observers the processor knows which function a handler calls: that is the
      // cost of the hub. With several it must predict that, as well as it can.
      [1, observerKinds].flatMap { kinds in
        settings.sizes(or: [1, 10, 100, 1000, 10_000]).map {
          HubHandlers(size: $0, kinds: kinds).experiment
        }
      }
    }
  }
}

private struct HubHandlers {
  let size: Int
  /// The number of classes of the observers.
  let kinds: Int

  private var isOfOneKind: Bool { kinds == 1 }

  var experiment: Experiment {
    Experiment(
      isOfOneKind ? "hub/one kind" : "hub/handlers", detail: "N = \(size)",
      requirements: requirements
    ) {
      [floor, loop, timed, totalOrder, replaying] + StorageStrategy.allCases.map(measured)
    }
  }

  private var requirements: [Requirement] {
    guard size >= 100 else { return [] }
    guard !isOfOneKind else {
      let limit = size < 1000 ? 2 : 2.2
      return [
        Requirement("hub, one kind, N = \(size), of floor", .atMost(limit)) {
          $0.ratio("waitFree", to: "floor")
        }
      ]
    }
    return [
      Requirement("hub, N = \(size), of a for loop over closures", .atMost(2)) {
        $0.ratio("waitFree", to: "for loop")
      },
      Requirement("measuring handlers, N = \(size), ns per delivery", .atMost(10)) {
        guard let timed = $0.best("waitFree, timed"), let plain = $0.best("waitFree") else {
          return nil
        }
        return timed - plain
      },
    ]
  }

  /// In a hub that measures its handlers: the default, one of 64 calls.
  private var timed: Case {
    let listeners = Listeners(size, kinds: kinds)
    let hub = EventHub<Int>()
    hub.measureHandlers()
    let subscriptions = subscribe(listeners, to: hub)
    return Case(
      "waitFree, timed", size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations { hub.send(1) }
      withExtendedLifetime(subscriptions) {}
    }
  }

  /// Read through a pointer: no closure is retained for its call.
  private var floor: Case {
    let listeners = Listeners(size, kinds: kinds)
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
    let listeners = Listeners(size, kinds: kinds)
    let handlers = ContiguousArray(listeners.observers.map(handler))
    return Case(
      "for loop", size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations {
        for handler in handlers { handler(1) }
      }
    }
  }

  private var totalOrder: Case {
    measured("waitFree, total order", EventHub(ordering: .total))
  }

  /// Each handler has a buffer, so that a slow one holds up only the sender that calls it.
  private var replaying: Case {
    measured("waitFree, replay", EventHub(replay: 1))
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    measured(storage.rawValue, EventHub(storage: storage))
  }

  private func measured(_ name: String, _ hub: EventHub<Int>) -> Case {
    let listeners = Listeners(size, kinds: kinds)
    let subscriptions = subscribe(listeners, to: hub)
    return Case(
      name, size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations { hub.send(1) }
      withExtendedLifetime(subscriptions) {}
    }
  }

  // A closure, as users write it: a function in a variable would be called through two others. And
  // one for all cases: of several that do the same, the compiler makes one, to which the others
  // jump.
  private func subscribe(_ listeners: Listeners, to hub: EventHub<Int>) -> [EventSubscription] {
    listeners.observers.map { observer in hub.subscribe { observer.notify($0) } }
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
