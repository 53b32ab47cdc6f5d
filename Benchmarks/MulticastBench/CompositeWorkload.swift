internal import BenchmarkHarness
internal import MulticastMacros

extension Workload {
  /// A call through a composite of `@Multicast`, and the same call of the hub, written by hand.
  static var composite: Workload {
    Workload("composite", summary: "a composite forwards to N delegates, per delivery") {
      settings in
      let sizes = settings.sizes(or: [1, 10, 100, 1000])
      return CompositeCalls.Call.allCases.flatMap { call in
        sizes.map { CompositeCalls(call: call, size: $0).experiment }
      }
    }
  }
}

private struct CompositeCalls {
  enum Call: String, CaseIterable {
    /// The protocol is not Sendable: the composite calls `forEach`.
    case forEach
    /// The protocol is Sendable: the composite calls `invoke`.
    case invoke
    /// The first answer that is not `nil`; none is.
    case answer
    /// A requirement that a refining protocol inherits, in its composite.
    case inherited
  }

  let call: Call
  let size: Int

  var experiment: Experiment {
    Experiment(
      "composite/\(call)", detail: "N = \(size)",
      requirements: [
        Requirement("composite/\(call), N = \(size), ns more than by hand", .atMost(1)) {
          $0.difference("composite", to: "by hand")
        }
      ]
    ) {
      [
        makeCase("by hand", isBaseline: true) { composites, iterations in
          switch call {
          case .forEach: forEachByHand(composites.plain.delegates, iterations)
          case .invoke: invokeByHand(composites.sendable.delegates, iterations)
          case .answer: answerByHand(composites.sendable.delegates, iterations)
          case .inherited: inheritedByHand(composites.refined.delegates, iterations)
          }
        },
        makeCase("composite", isBaseline: false) { composites, iterations in
          switch call {
          case .forEach: notify(composites.plain, iterations)
          case .invoke: notify(composites.sendable, iterations)
          case .answer: ask(composites.sendable, iterations)
          case .inherited: notify(composites.refined, iterations)
          }
        },
      ]
    }
  }

  private func makeCase(
    _ system: String, isBaseline: Bool, run: @escaping (Composites, Int) -> Void
  ) -> Case {
    let composites = Composites(size)
    return Case(
      system, size: size, isBaseline: isBaseline, deliveries: size,
      delivered: composites.takeReceived
    ) { run(composites, $0) }
  }
}

/// Three composites with the same delegates.
private final class Composites {
  let plain = MulticastPlainListener()
  let sendable = MulticastSendableListener()
  let refined = MulticastRefinedListener()
  private let listeners: [any RefinedListener & SendableListener & Receiving]

  init(_ count: Int) {
    listeners = (0..<count).map { makeListener(opaque($0)) }
    for listener in listeners {
      plain.add(listener, ownership: .strong)
      sendable.add(listener, ownership: .strong)
      refined.add(listener, ownership: .strong)
    }
  }

  func takeReceived() -> Int { listeners.reduce(0) { $0 + $1.takeReceived() } }
}

// MARK: - What is measured

@inline(never)
private func forEachByHand(_ hub: MulticastDelegate<any PlainListener>, _ iterations: Int) {
  for iteration in 0..<iterations {
    let event = opaque(iteration) == iteration ? 1 : 0
    hub.forEach { $0.notify(event) }
  }
}

@inline(never)
private func invokeByHand(_ hub: MulticastDelegate<any SendableListener>, _ iterations: Int) {
  for iteration in 0..<iterations {
    let event = opaque(iteration) == iteration ? 1 : 0
    hub.invoke { $0.receive(event) }
  }
}

@inline(never)
private func answerByHand(_ hub: MulticastDelegate<any SendableListener>, _ iterations: Int) {
  for iteration in 0..<iterations {
    let event = opaque(iteration) == iteration ? 1 : 0
    _ = opaque(hub.firstResult { $0.answer(event) } ?? 0)
  }
}

@inline(never)
private func inheritedByHand(_ hub: MulticastDelegate<any RefinedListener>, _ iterations: Int) {
  for iteration in 0..<iterations {
    let event = opaque(iteration) == iteration ? 1 : 0
    hub.forEach { $0.notify(event) }
  }
}

/// As its sender knows a composite: as one delegate.
@inline(never)
private func notify(_ delegate: any PlainListener, _ iterations: Int) {
  for iteration in 0..<iterations {
    delegate.notify(opaque(iteration) == iteration ? 1 : 0)
  }
}

@inline(never)
private func notify(_ delegate: any SendableListener, _ iterations: Int) {
  for iteration in 0..<iterations {
    delegate.receive(opaque(iteration) == iteration ? 1 : 0)
  }
}

@inline(never)
private func ask(_ delegate: any SendableListener, _ iterations: Int) {
  for iteration in 0..<iterations {
    _ = opaque(delegate.answer(opaque(iteration) == iteration ? 1 : 0) ?? 0)
  }
}
