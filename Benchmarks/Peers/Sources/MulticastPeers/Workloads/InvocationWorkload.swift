internal import BenchmarkHarness

extension Workload {
  /// One thread that notifies every observer, over the number of observers.
  static var invocation: Workload {
    Workload("invocation", summary: "one thread notifies N observers, per delivery") { settings in
      [false, true].flatMap { isWeak in
        settings.sizes(or: [1, 10, 100, 1000, 10_000]).map {
          Invocation(isWeak: isWeak, size: $0).experiment
        }
      }
    }
  }
}

private struct Invocation {
  let isWeak: Bool
  let size: Int

  var experiment: Experiment {
    Experiment("invocation/\(isWeak ? "weak" : "strong")", detail: "N = \(size)") {
      [bare] + Peer.all.compactMap(measured) + (isWeak ? [] : [java].compactMap(\.self))
    }
  }

  private var java: Case? {
    guard let process = JavaProcess.shared else { return nil }
    // Not calibrated: the time of a request does not count.
    return Case(
      JavaProcess.name, size: size, metrics: [.time], iterations: max(1, 1_000_000 / size)
    ) { iterations in
      let answer = try process.ask("invocation \(size) \(iterations)", answers: 2)
      let expected = iterations * size
      try WrongResult.check(JavaProcess.name, delivered: answer[1], expected: expected)
      return [Double(answer[0]) / Double(expected)]
    }
  }

  private var bare: Case {
    let listeners = Listeners(size)
    if isWeak {
      let list = BareWeakList(listeners.observers)
      return Case(
        "weak floor", size: size, isBaseline: true, deliveries: size,
        delivered: listeners.takeReceived
      ) { BareLoop.notify(list, $0) }
    }
    let list = BareList<any Observer>(listeners.observers.map { $0 })
    return Case(
      "floor", size: size, isBaseline: true, deliveries: size, delivered: listeners.takeReceived
    ) { BareLoop.notify(list, $0) }
  }

  private func measured(_ peer: Peer) -> Case? {
    let listeners = Listeners(size)
    guard let rival = peer.make(isWeak: isWeak, .notify) else { return nil }
    let registrations = listeners.register(with: rival)
    return Case(
      peer.name, size: size, deliveries: size, delivered: listeners.takeReceived
    ) { iterations in
      rival.notify(iterations)
      withExtendedLifetime(registrations) {}
    }
  }
}

extension Listeners {
  /// Registers all observers with `rival`.
  ///
  /// - Returns: what keeps them registered.
  func register(with rival: some Rival) -> AnyObject {
    Registrations(tokens: observers.map { rival.add($0) })
  }
}

private final class Registrations<Token> {
  private let tokens: [Token]

  init(tokens: [Token]) { self.tokens = tokens }
}
