internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// What users write: closures that capture, passed to delegates and handlers.
  static var capturing: Workload {
    Workload("capturing", summary: "closures that capture, N delegates or handlers, per delivery") {
      settings in
      let sizes = settings.sizes(or: [1, 10, 100, 10_000])
      return [Ownership.strong, .weak].flatMap { ownership in
        Captures.allCases.flatMap { captures in
          sizes.flatMap { size in
            [
              Capturing<ExistentialDelegates>(ownership, captures, size).experiment,
              Capturing<ConcreteDelegates>(ownership, captures, size).experiment,
            ]
          }
        }
      }
    }
  }
}

/// One way to write closures, beside the floor with the same closure.
private struct Capturing<Kind: DelegateKind> {
  private let ownership: Ownership
  private let captures: Captures
  private let size: Int

  init(_ ownership: Ownership, _ captures: Captures, _ size: Int) {
    self.ownership = ownership
    self.captures = captures
    self.size = size
  }

  var experiment: Experiment {
    Experiment(
      "capturing/\(ownership)/\(Kind.name)/\(captures)", detail: "N = \(size)"
    ) {
      [floor, forEach, invoke, collecting, results, handlerFloor, send]
    }
  }

  private func measured(
    _ system: String, isBaseline: Bool = false, _ delegates: Kind,
    _ run: @escaping (Captured, _ iterations: Int) -> Void
  ) -> Case {
    let captured = Captured(captures)
    return Case(
      system, size: size, isBaseline: isBaseline, deliveries: size,
      delivered: delegates.takeReceived
    ) { run(captured, $0) }
  }

  private var floor: Case {
    let delegates = Kind(size)
    let list = delegates.bareList(ownership)
    return measured(ownership == .strong ? "floor" : "weak floor", isBaseline: true, delegates) {
      Kind.notify(list, $0, $1)
    }
  }

  private var forEach: Case {
    let delegates = Kind(size)
    let hub = delegates.hub(ownership)
    return measured("forEach", delegates) { Kind.forEach(hub, $0, $1) }
  }

  private var invoke: Case {
    let delegates = Kind(size)
    let hub = delegates.hub(ownership)
    return measured("invoke", delegates) { Kind.invoke(hub, $0, $1) }
  }

  /// `forEach` with a closure that keeps each answer: what `results` is compared with.
  private var collecting: Case {
    let delegates = Kind(size)
    let hub = delegates.hub(ownership)
    return answering("forEach, collecting", delegates) { Kind.collect(hub, $0, $1) }
  }

  private var results: Case {
    let delegates = Kind(size)
    let hub = delegates.hub(ownership)
    return answering("results", delegates) { Kind.results(hub, $0, $1) }
  }

  /// - Parameters:
  ///   - delegates: kept, because the hub may hold them weakly.
  ///   - run: returns the number of answers.
  private func answering(
    _ system: String, _ delegates: Kind, _ run: @escaping (Captured, _ iterations: Int) -> Int
  ) -> Case {
    let captured = Captured(captures)
    var answers = 0
    return Case(
      system, size: size, deliveries: size,
      delivered: {
        defer { answers = 0 }
        return answers
      },
      run: { iterations in
        answers += run(captured, iterations)
        withExtendedLifetime(delegates) {}
      })
  }

  /// A loop over the closures that are subscribed to the hub.
  private var handlerFloor: Case {
    let delegates = Kind(size)
    let handlers = BareHandlers(delegates.handlers(ownership, Captured(captures)))
    return measured("handler floor", delegates) { handlers.send($0, $1) }
  }

  private var send: Case {
    let delegates = Kind(size)
    let hub = EventHub<Int>()
    let subscriptions = delegates.subscribe(to: hub, ownership, Captured(captures))
    return measured("EventHub.send", delegates) { captured, iterations in
      sendEvents(hub, captured, iterations)
      withExtendedLifetime(subscriptions) {}
    }
  }
}

@inline(never)
private func sendEvents(_ hub: EventHub<Int>, _ captured: Captured, _ iterations: Int) {
  for iteration in 0..<iterations { hub.send(captured.event(iteration)) }
}
