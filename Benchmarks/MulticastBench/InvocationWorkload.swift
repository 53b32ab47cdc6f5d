internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// One thread that calls every delegate, over the number of delegates.
  static var invocation: Workload {
    Workload("invocation", summary: "one thread calls N delegates, per delivery") { settings in
      let sizes = settings.sizes(or: [1, 10, 100, 1000, 10_000])
      return [Ownership.strong, .weak].flatMap { ownership in
        Invocation.Call.allCases.flatMap { call in
          sizes.map { Invocation(ownership: ownership, call: call, size: $0).experiment }
        }
      } + sizes.map { OpenInvocation(size: $0).experiment }
    }
  }
}

/// The delivery to delegates that are bound to classes.
private struct Invocation {
  enum Call: String, CaseIterable { case forEach, invoke }

  let ownership: Ownership
  let call: Call
  let size: Int

  var experiment: Experiment {
    Experiment(
      "invocation/\(ownership)/\(call)", detail: "N = \(size)", requirements: requirements
    ) {
      [bare] + StorageStrategy.allCases.map(measured)
    }
  }

  private var bare: Case {
    let listeners = Listeners(size)
    switch ownership {
    case .strong:
      let list = BareList<any Observer>(listeners.observers.map { $0 })
      return Case(
        "floor", size: size, isBaseline: true, deliveries: size, delivered: listeners.takeReceived
      ) { BareLoop.notify(list, $0) }
    case .weak:
      let list = BareWeakList(listeners.observers)
      return Case(
        "weak floor", size: size, isBaseline: true, deliveries: size,
        delivered: listeners.takeReceived
      ) { BareLoop.notify(list, $0) }
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = listeners.hub(storage, ownership)
    return Case(
      storage.rawValue, size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      switch call {
      case .forEach: forEach(hub, iterations)
      case .invoke: invoke(hub, iterations)
      }
    }
  }

  private var requirements: [Requirement] {
    guard call == .forEach else { return [] }
    let title = "forEach, \(ownership), N = \(size)"
    switch (ownership, size) {
    case (.strong, 1):
      return [
        Requirement("\(title), of floor", .atMost(15)) { $0.ratio("waitFree", to: "floor") }
      ]
    case (.strong, 100...):
      return [
        Requirement("\(title), of floor", .atMost(1.5)) { $0.ratio("waitFree", to: "floor") }
      ]
    case (.weak, 10...):
      return [
        Requirement("\(title), of weak floor", WeakForm.bound) {
          $0.ratio("waitFree", to: "weak floor")
        }
      ]
    default: return []
    }
  }
}

/// The delivery to delegates that may be values: their existential is larger.
private struct OpenInvocation {
  let size: Int

  var experiment: Experiment {
    Experiment("invocation/open/forEach", detail: "N = \(size)") {
      [bare] + StorageStrategy.allCases.map(measured)
    }
  }

  private var bare: Case {
    let listeners = Listeners(size)
    let list = BareList<any OpenObserver>(listeners.observers.map { $0 })
    return Case(
      "floor", size: size, isBaseline: true, deliveries: size, delivered: listeners.takeReceived
    ) { BareLoop.notify(list, $0) }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = MulticastDelegate<any OpenObserver>(storage: storage)
    for observer in listeners.observers { hub.add(observer, ownership: .strong) }
    return Case(
      storage.rawValue, size: size, deliveries: size, delivered: listeners.takeReceived
    ) { forEach(hub, $0) }
  }
}

// MARK: - What is measured

@inline(never)
private func forEach(_ hub: MulticastDelegate<any Observer>, _ iterations: Int) {
  for _ in 0..<iterations { hub.notifyAll() }
}

@inline(never)
private func forEach(_ hub: MulticastDelegate<any OpenObserver>, _ iterations: Int) {
  for _ in 0..<iterations { hub.notifyAll() }
}

/// As it is used: the closure carries an event.
@inline(never)
private func invoke(_ hub: MulticastDelegate<any Observer>, _ iterations: Int) {
  for iteration in 0..<iterations {
    let event = opaque(iteration) == iteration ? 1 : 0
    hub.invoke { $0.notify(event) }
  }
}
