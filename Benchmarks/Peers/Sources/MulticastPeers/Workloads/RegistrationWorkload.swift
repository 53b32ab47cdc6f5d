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
    guard size <= peer.largestRegistration, let type = peer.type(isWeak: isWeak) else { return nil }
    let observers = Listeners(size).observers
    let reception = Reception(isWeak: isWeak, handling: .notify)
    // The clock takes half a microsecond: one reading for so many hubs that it does not count.
    let hubs = max(1, 1000 / size)
    return Case(
      peer.name, size: size, metrics: Self.metrics, iterations: max(1, 2000 / size / hubs)
    ) { rounds in
      var adding = 0
      var removing = 0
      // The first round is not counted: what ran before has left nothing of this system in the
      // caches.
      for round in 0...rounds {
        let times = type.registerInNew(hubs, reception, observers)
        guard round > 0 else { continue }
        adding += times.adding
        removing += times.removing
      }
      let received = observers.reduce(0) { $0 + $1.takeReceived() }
      guard received == 0 else {
        throw WrongResult("\(peer.name) has made \(received) deliveries to those it had removed")
      }
      let operations = Double(rounds * hubs * size)
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
    guard let type = peer.type(isWeak: isWeak) else { return nil }
    return Case(
      peer.name, size: size, metrics: [Metric("memory", unit: "bytes")], iterations: 1
    ) { _ in
      let listeners = Listeners(size)
      let reception = Reception(isWeak: isWeak, handling: .notify)
      let bytes = type.bytesOfRegistrations(reception, listeners.observers)
      try WrongResult.check(peer.name, delivered: listeners.takeReceived(), expected: size)
      return [Double(bytes) / Double(size)]
    }
  }
}

extension Rival {
  /// What the heap holds for `observers` in a new system, which notifies them once.
  fileprivate static func bytesOfRegistrations(
    _ reception: Reception, _ observers: ContiguousArray<any Observer & OpenObserver>
  ) -> Int {
    let system = Self(reception)
    let before = Heap.bytesInUse ?? 0
    var after = 0
    _ = register(observers, with: [system]) {
      after = Heap.bytesInUse ?? 0
      system.notify(1)
    }
    return after - before
  }
}
