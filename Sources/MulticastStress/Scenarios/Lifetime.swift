import ConcurrencyStress
import Multicast

/// Some threads invoke all the time; the others register delegates, hand them to each other, and
/// release the last reference. Some delegates remove themselves in their `deinit`.
enum Lifetime: Scenario {
  static let name = "lifetime"
  static let promise =
    "a delegate is called only while it lives, is not kept alive by the hub, and is destroyed once"

  static func run(_ trial: Trial) {
    let threads = max(2, trial.threads)
    trial.runRounds(threads: threads) { generator in
      LifetimeRound(
        trial, owners: threads - threads / 2,
        operations: 16 << Int.random(in: 0..<6, using: &generator))
    }
  }
}

/// A delegate that may remove itself in its `deinit`.
private final class LifetimeTarget: Target, @unchecked Sendable {
  // Sendable: as for the superclass.
  private let hub: MulticastDelegate<LifetimeTarget>?
  let ended: Counter

  init(
    _ lifetimes: LifetimeTracker, leaving hub: MulticastDelegate<LifetimeTarget>?, _ ended: Counter
  ) {
    self.hub = hub
    self.ended = ended
    super.init(0, lifetimes)
  }

  deinit {
    hub?.remove(self)
    ended.add(1)
  }

  func receive() {
    noteCall()
  }
}

/// One hub, the threads that invoke it, and the threads that own the delegates.
private final class LifetimeRound: ScenarioRound {
  private let trial: Trial
  private let owners: Int
  private let operations: Int
  private let hub: MulticastDelegate<LifetimeTarget>
  private let holders: [Holder<LifetimeTarget>]
  private let ownersLeft = Counter()
  private let made = Counter()
  private let ended = Counter()

  init(_ trial: Trial, owners: Int, operations: Int) {
    self.trial = trial
    self.owners = owners
    self.operations = operations
    hub = MulticastDelegate(storage: trial.storage)
    holders = (0..<trial.delegates).map { _ in Holder(nil) }
    ownersLeft.add(owners)
  }

  func work(_ worker: inout Worker) {
    guard worker.index >= owners else {
      for _ in 0..<operations { own(&worker) }
      ownersLeft.add(-1)
      return
    }
    while ownersLeft.value > 0 {
      if worker.once(in: 8) {
        // This retains the delegates for a moment, and may release the last reference.
        worker.begin("delegates")
        for target in hub.delegates { target.receive() }
      } else {
        worker.begin("forEach")
        hub.forEach { $0.receive() }
      }
    }
  }

  private func own(_ worker: inout Worker) {
    let holder = holders[worker.pick(holders.count)]
    if worker.once(in: 2) {
      worker.begin("add")
      let target = LifetimeTarget(
        trial.lifetimes, leaving: worker.once(in: 4) ? hub : nil, ended)
      made.add(1)
      let registration = hub.add(target)
      trial.expect(hub.contains(target), "a delegate is not there after its addition")
      if worker.once(in: 8) { registration.cancel() }
      holder.value = target  // The delegate before it dies now, unless it is being called.
    } else {
      worker.begin("drop")
      holder.value = nil
    }
    if worker.once(in: 64) {
      worker.begin("prune")
      hub.prune()
    }
  }

  func check() {
    let kept = holders.compactMap(\.value)
    let live = made.value - ended.value
    trial.expect(
      live == kept.count, "\(live) delegates live, and \(kept.count) have an owner")
    trial.expect(hub.count <= kept.count, "\(hub.count) of \(kept.count) delegates are counted")
    for target in hub {
      trial.expect(kept.contains { $0 === target }, "the hub has a delegate without an owner")
    }
    for holder in holders { holder.value = nil }
  }
}
