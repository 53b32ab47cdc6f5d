internal import BenchmarkHarness
internal import Dispatch
internal import Multicast
internal import OpenCombine
internal import OpenCombineDispatch

extension Workload {
  /// Delivery on a serial queue, completion included.
  static var queue: Workload {
    Workload("queue", summary: "N observers on one queue, until every call has run, per delivery") {
      settings in
      settings.sizes(or: [1, 100]).flatMap { size in
        [false, true].map { QueueDelivery(isWeak: $0, size: size).experiment }
      }
    }
  }
}

private struct QueueDelivery {
  let isWeak: Bool
  let size: Int

  var experiment: Experiment {
    Experiment("queue/\(isWeak ? "weak" : "strong")", detail: "N = \(size)", sampling: .few) {
      [asynchronousCalls, hub, subject]
    }
  }

  private var reception: Reception { Reception(isWeak: isWeak, handling: .notify) }

  /// `queue.async` for each observer and event.
  private var asynchronousCalls: Case {
    let listeners = Listeners(size)
    let handlers = listeners.observers.map { reception.handler($0) }
    return timed("async per call", isBaseline: true, listeners) { iterations, queue in
      withUnsafeTemporaryAllocation(of: Int.self, capacity: 1) { tally in
        let event = Event(value: 1, tally: tally.baseAddress!)
        for _ in 0..<iterations {
          for handler in handlers { queue.async { handler(event) } }
        }
        queue.sync {}
      }
    }
  }

  private var hub: Case {
    let listeners = Listeners(size)
    let ownership: Ownership = isWeak ? .weak : .strong
    return timed(Peer.ours, listeners) { iterations, queue in
      let hub = MulticastDelegate<any Observer>()
      for observer in listeners.observers { hub.add(observer, ownership: ownership, on: queue) }
      for _ in 0..<iterations { hub.invoke { $0.notify(1) } }
      precondition(hub.flush(timeout: .seconds(60)), "a queue did not move")
    }
  }

  /// A subject with `receive(on:)` for each subscriber.
  private var subject: Case {
    let listeners = Listeners(size)
    let handlers = listeners.observers.map { reception.handler($0) }
    return timed("OpenCombine", listeners) { iterations, queue in
      let subject = PassthroughSubject<Event, Never>()
      let subscriptions = handlers.map { handler in
        subject.receive(on: queue.ocombine).sink(receiveValue: handler)
      }
      withUnsafeTemporaryAllocation(of: Int.self, capacity: 1) { tally in
        let event = Event(value: 1, tally: tally.baseAddress!)
        for _ in 0..<iterations { subject.send(event) }
        queue.sync {}
      }
      withExtendedLifetime(subscriptions) {}
    }
  }

  /// - Parameter run: sends so many events, and returns when everything on the queue has run.
  private func timed(
    _ system: String, isBaseline: Bool = false, _ listeners: Listeners,
    _ run: @escaping (_ iterations: Int, DispatchQueue) -> Void
  ) -> Case {
    let queue = DispatchQueue(label: "observers")
    // The same number of deliveries at every size: how long a burst is matters.
    return Case(
      system, size: size, isBaseline: isBaseline, metrics: [.time], iterations: 50_000 / size
    ) { iterations in
      let start = MonotonicClock.nanoseconds
      run(iterations, queue)
      let elapsed = MonotonicClock.nanoseconds - start
      try WrongResult.check(
        system, delivered: listeners.takeReceived(), expected: iterations * size)
      return [Double(elapsed) / Double(iterations * size)]
    }
  }
}
