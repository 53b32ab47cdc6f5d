internal import BenchmarkHarness
internal import MulticastMacros

extension Workload {
  /// A call through a composite of `@Multicast`, and through one that was written by hand.
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
        // An inherited requirement retains each delegate, to pass it as the refined protocol.
        Requirement(
          "composite/\(call), N = \(size), ns more than by hand",
          .atMost(call == .inherited ? 20 : 1)
        ) {
          $0.difference("composite", to: "by hand")
        }
      ]
    ) {
      [measured("by hand", isGenerated: false), measured("composite", isGenerated: true)]
    }
  }

  private func measured(_ system: String, isGenerated: Bool) -> Case {
    let composites = Composites(size, isGenerated: isGenerated)
    return Case(
      system, size: size, isBaseline: !isGenerated, deliveries: size,
      delivered: composites.takeReceived
    ) { iterations in
      switch call {
      case .forEach: notify(composites.plain, iterations)
      case .invoke: notify(composites.sendable, iterations)
      case .answer: ask(composites.sendable, iterations)
      case .inherited: notify(composites.refined, iterations)
      }
    }
  }
}

/// Composites with the same delegates: generated, and written by hand.
private final class Composites {
  let plain: any PlainListener
  let sendable: any SendableListener
  let refined: any RefinedListener
  private let listeners: [any RefinedListener & SendableListener & Receiving]

  init(_ count: Int, isGenerated: Bool) {
    listeners = (0..<count).map { makeListener(opaque($0)) }
    let hubs = (
      MulticastDelegate<any PlainListener>(), MulticastDelegate<any SendableListener>(),
      MulticastDelegate<any RefinedListener>()
    )
    let generated = (
      MulticastPlainListener(), MulticastSendableListener(), MulticastRefinedListener()
    )
    for listener in listeners {
      hubs.0.add(listener, ownership: .strong)
      hubs.1.add(listener, ownership: .strong)
      hubs.2.add(listener, ownership: .strong)
      generated.0.add(listener, ownership: .strong)
      generated.1.add(listener, ownership: .strong)
      generated.2.add(listener, ownership: .strong)
    }
    plain = isGenerated ? generated.0 : HandwrittenPlain(hubs.0)
    sendable = isGenerated ? generated.1 : HandwrittenSendable(hubs.1)
    refined = isGenerated ? generated.2 : HandwrittenRefined(hubs.2)
  }

  func takeReceived() -> Int { listeners.reduce(0) { $0 + $1.takeReceived() } }
}

// MARK: - Composites by hand

private final class HandwrittenPlain: PlainListener {
  private let hub: MulticastDelegate<any PlainListener>

  init(_ hub: MulticastDelegate<any PlainListener>) { self.hub = hub }

  func notify(_ event: Int) { hub.forEach { $0.notify(event) } }
}

private final class HandwrittenSendable: SendableListener {
  private let hub: MulticastDelegate<any SendableListener>

  init(_ hub: MulticastDelegate<any SendableListener>) { self.hub = hub }

  func receive(_ event: Int) { hub.invoke { $0.receive(event) } }
  func answer(_ event: Int) -> Int? { hub.firstResult { $0.answer(event) } }
}

private final class HandwrittenRefined: RefinedListener {
  private let hub: MulticastDelegate<any RefinedListener>

  init(_ hub: MulticastDelegate<any RefinedListener>) { self.hub = hub }

  func notify(_ event: Int) { hub.forEach { $0.notify(event) } }
  func finish() { hub.forEach { $0.finish() } }
}

// MARK: - What is measured

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
