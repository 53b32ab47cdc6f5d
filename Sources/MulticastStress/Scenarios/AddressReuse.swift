import ConcurrencyStress
import Multicast

/// Delegates die without being removed, and new ones are created at their addresses.
enum AddressReuse: Scenario {
  static let name = "address-reuse"
  static let promise = "a delegate that is dead is never mistaken for a new one at its address"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      AddressReuseRound(trial, operations: 16 << Int.random(in: 0..<5, using: &generator))
    }
  }
}

/// A delegate that records its end.
private final class ReuseTarget: Target, @unchecked Sendable {
  // Sendable: as for the superclass.
  private let ended: Counter

  init(_ lifetimes: LifetimeTracker, _ ended: Counter) {
    self.ended = ended
    super.init(0, lifetimes)
  }

  deinit { ended.add(1) }
}

private final class AddressReuseRound: ScenarioRound {
  private let trial: Trial
  private let operations: Int
  private let hub: MulticastDelegate<ReuseTarget>

  init(_ trial: Trial, operations: Int) {
    self.trial = trial
    self.operations = operations
    hub = MulticastDelegate(storage: trial.storage)
  }

  func work(_ worker: inout Worker) {
    /// The registrations of earlier delegates, and whether those are dead.
    var past: [(registration: Registration<ReuseTarget>, ended: Counter)] = []
    for _ in 0..<operations {
      let ended = Counter()
      let registration = live(&worker, ended, &past)
      past.append((registration, ended))
      if past.count > 8 { past.removeFirst() }
      if worker.once(in: 4) {
        worker.begin("prune")
        hub.prune()
      }
    }
  }

  /// Registers a delegate that dies on return, without being removed.
  private func live(
    _ worker: inout Worker, _ ended: Counter,
    _ past: inout [(registration: Registration<ReuseTarget>, ended: Counter)]
  ) -> Registration<ReuseTarget> {
    worker.begin("add")
    let target = ReuseTarget(trial.lifetimes, ended)
    trial.expect(!hub.contains(target), "a delegate is found that was not added yet")
    trial.expect(!hub.remove(target), "a delegate was removed that was not added yet")
    let registration = hub.add(target)
    worker.begin("cancel")
    for (registration, ended) in past where ended.value > 0 {
      trial.expect(!registration.isActive, "the registration of a dead delegate is active")
      if worker.once(in: 2) { registration.cancel() }
    }
    trial.expect(hub.contains(target), "a delegate was removed with one that had its address")
    if worker.once(in: 4) { hub.add(target) }  // It is there already.
    worker.begin("forEach")
    var calls = 0
    hub.forEach {
      $0.noteCall()
      if $0 === target { calls += 1 }
    }
    trial.expect(calls == 1, "an invocation called a new delegate \(calls) times")
    trial.expect(registration.isActive, "the registration of a living delegate is not active")
    return registration
  }

  func check() {
    trial.expect(hub.isEmpty, "\(hub.count) dead delegates are counted")
    hub.prune()
    var targets = (0..<trial.delegates).map { _ in ReuseTarget(trial.lifetimes, Counter()) }
    let count = targets.count
    for target in targets { hub.add(target) }
    targets = []
    let pruned = hub.prune()
    trial.expect(pruned == count, "\(pruned) of \(count) dead delegates were pruned")
  }
}
