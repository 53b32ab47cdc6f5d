internal import BenchmarkHarness

extension Workload {
  /// Adding observers one by one to an empty system, then removing each by its token.
  static var registration: Workload {
    Workload("registration", summary: "add N one by one, remove each, per operation") { settings in
      [false, true].flatMap { isWeak in
        settings.sizes(or: [10, 100, 1000, 10_000, 100_000]).map {
          RegistrationCost(isWeak: isWeak, size: $0).experiment
        }
      }
    }
  }

  /// What the heap holds for each observer, beside the observer itself.
  static var memory: Workload {
    Workload("memory", summary: "bytes for each registration") { settings in
      guard Heap.bytesInUse != nil else { return [] }
      return [false, true].flatMap { isWeak in
        settings.sizes(or: [10_000]).map {
          RegistrationMemory(isWeak: isWeak, size: $0).experiment
        }
      }
    }
  }
}

private struct RegistrationCost {
  let isWeak: Bool
  let size: Int

  private static let metrics = [
    Metric("add", unit: "ns"), Metric("remove", unit: "ns"), Metric("add + remove", unit: "ns"),
  ]

  var experiment: Experiment {
    Experiment(
      "registration/\(isWeak ? "weak" : "strong")", detail: "N = \(size)", sampling: .few
    ) {
      Peer.all.compactMap(measured) + (isWeak ? [] : [java].compactMap(\.self))
    }
  }

  private var java: Case? {
    guard size <= 1000, let process = JavaProcess.shared else { return nil }
    return Case(
      JavaProcess.name, size: size, metrics: Self.metrics, iterations: max(1, 2000 / size)
    ) { rounds in
      let times = try process.ask("registration \(size) \(rounds)", answers: 2)
      let operations = Double(rounds * size)
      return [times[0], times[1], times[0] + times[1]].map { Double($0) / operations }
    }
  }

  private func measured(_ peer: Peer) -> Case? {
    guard size <= peer.largestRegistration else { return nil }
    guard peer.make(isWeak: isWeak, .notify) != nil else { return nil }
    let observers = Listeners(size).observers
    // As many, one after the other, as make a sample long enough.
    return Case(
      peer.name, size: size, metrics: Self.metrics, iterations: max(1, 2000 / size)
    ) { rounds in
      var adding = 0
      var removing = 0
      for _ in 0..<rounds {
        guard let rival = peer.make(isWeak: isWeak, .notify) else { continue }
        let times = rival.register(observers) {}
        rival.notify(1)
        adding += times.adding
        removing += times.removing
      }
      let received = observers.reduce(0) { $0 + $1.takeReceived() }
      guard received == 0 else {
        throw WrongResult("\(peer.name) has made \(received) deliveries to those it had removed")
      }
      let operations = Double(rounds * size)
      let values = [adding, removing, adding + removing]
      return values.map { Double($0) / operations }
    }
  }
}

private struct RegistrationMemory {
  let isWeak: Bool
  let size: Int

  var experiment: Experiment {
    Experiment(
      "memory/registration/\(isWeak ? "weak" : "strong")", detail: "N = \(size)", sampling: .few
    ) {
      Peer.all.compactMap(measured)
    }
  }

  private func measured(_ peer: Peer) -> Case? {
    guard peer.make(isWeak: isWeak, .notify) != nil else { return nil }
    return Case(
      peer.name, size: size, metrics: [Metric("memory", unit: "bytes")], iterations: 1
    ) { _ in
      let listeners = Listeners(size)
      guard let rival = peer.make(isWeak: isWeak, .notify) else { return [] }
      let before = Heap.bytesInUse ?? 0
      var after = 0
      _ = rival.register(listeners.observers) {
        after = Heap.bytesInUse ?? 0
        rival.notify(1)
      }
      try WrongResult.check(peer.name, delivered: listeners.takeReceived(), expected: size)
      return [Double(after - before) / Double(size)]
    }
  }
}
