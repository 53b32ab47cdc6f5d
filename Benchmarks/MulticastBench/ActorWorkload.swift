internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// `MulticastActor` in order and concurrently, beside what one writes without it.
  static var actor: Workload {
    Workload("actor", summary: "a MulticastActor calls N delegates, processor time per delivery") {
      settings in
      settings.sizes(or: [1, 100]).flatMap { size in
        [Ownership.strong, .weak].map { OrderedCalls(ownership: $0, size: size).experiment }
      } + settings.sizes(or: [1000]).map { ConcurrentCalls(size: $0).experiment }
    }
  }
}

/// One invocation after the other, of methods that are synchronous.
private struct OrderedCalls {
  let ownership: Ownership
  let size: Int

  private static let rival = "actor with a list"

  var experiment: Experiment {
    Experiment(
      "actor/invoke/\(ownership)", detail: "N = \(size)", requirements: requirements
    ) {
      [list, hoppingList] + StorageStrategy.allCases.map(measured)
    }
  }

  private var requirements: [Requirement] {
    guard ownership == .strong, size >= 100 else { return [] }
    return [
      Requirement("actor, N = \(size), sync methods, of an actor with a list", .atMost(1.5)) {
        $0.ratio("waitFree", to: Self.rival)
      }
    ]
  }

  /// It holds the delegates strongly, whatever the hub does.
  private var list: Case {
    let listeners = Listeners(size)
    let list = ListActor(listeners.observers.map { $0 })
    return timed(Self.rival, isBaseline: true, listeners) { iterations in
      for _ in 0..<iterations { await list.invoke { $0.notify(1) } }
    }
  }

  /// The same in a module where an asynchronous closure leaves the actor: so it is unless the
  /// module says `NonisolatedNonsendingByDefault`.
  private var hoppingList: Case {
    let listeners = Listeners(size)
    let list = ListActor(listeners.observers.map { $0 })
    return timed("\(Self.rival), hopping", isBaseline: false, listeners) { iterations in
      for _ in 0..<iterations { await list.invokeElsewhere { $0.notify(1) } }
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = MulticastActor<any Observer>(storage: storage)
    for observer in listeners.observers { hub.add(observer, ownership: ownership) }
    return timed(storage.rawValue, isBaseline: false, listeners) { iterations in
      for _ in 0..<iterations { await hub.invoke { $0.notify(1) } }
    }
  }

  private func timed(
    _ system: String, isBaseline: Bool, _ listeners: Listeners,
    _ run: @escaping @concurrent @Sendable (Int) async -> Void
  ) -> Case {
    Case(system, size: size, isBaseline: isBaseline, metrics: [.time]) { iterations in
      let elapsed = AsyncWork.run {
        let start = ProcessClock.nanoseconds
        await run(iterations)
        return ProcessClock.nanoseconds - start
      }
      let expected = iterations * size
      try WrongResult.check(system, delivered: listeners.takeReceived(), expected: expected)
      return [Double(elapsed) / Double(expected)]
    }
  }
}

/// All delegates at once, with methods that are asynchronous.
private struct ConcurrentCalls {
  let size: Int

  private static let rival = "task group"

  var experiment: Experiment {
    let requirement = Requirement(
      "actor, N = \(size), async methods at once, of a bare task group", .atMost(1.2)
    ) {
      $0.typicalRatio("waitFree", to: Self.rival)
    }
    return Experiment(
      "actor/invokeConcurrently", detail: "N = \(size)",
      requirements: size >= 1000 ? [requirement] : []
    ) {
      [group] + StorageStrategy.allCases.map(measured)
    }
  }

  private var responders: [any Responder] {
    (0..<size).map { makeResponder(opaque($0)) }
  }

  private var group: Case {
    let responders = responders
    return timed(Self.rival, isBaseline: true) { await respondAll(responders) }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let hub = MulticastActor<any Responder>(storage: storage)
    for responder in responders { hub.add(responder, ownership: .strong) }
    return timed(storage.rawValue, isBaseline: false) {
      let results = await hub.invokeConcurrently { await $0.respond(1) }
      return results.reduce(0) { sum, result in
        guard case .success(let answer) = result else { return sum }
        return sum &+ answer
      }
    }
  }

  /// - Parameter run: calls every delegate once, and returns the sum of the answers.
  private func timed(
    _ system: String, isBaseline: Bool, _ run: @escaping @concurrent @Sendable () async -> Int
  ) -> Case {
    Case(system, size: size, isBaseline: isBaseline, metrics: [.time]) { iterations in
      let (elapsed, delivered) = AsyncWork.run {
        var delivered = 0
        let start = ProcessClock.nanoseconds
        for _ in 0..<iterations { delivered &+= await run() }
        return (ProcessClock.nanoseconds - start, delivered)
      }
      let expected = iterations * size
      try WrongResult.check(system, delivered: delivered, expected: expected)
      return [Double(elapsed) / Double(expected)]
    }
  }
}

/// The answers of a task group that does what a concurrent invocation does: in order, all of them.
@concurrent
private func respondAll(_ responders: [any Responder]) async -> Int {
  let answers = await withTaskGroup(of: (Int, Int).self) { group in
    for (index, responder) in responders.enumerated() {
      group.addTask { (index, await responder.respond(1)) }
    }
    var answers = [Int](repeating: 0, count: responders.count)
    for await (index, answer) in group { answers[index] = answer }
    return answers
  }
  return answers.reduce(0, &+)
}
