import ConcurrencyStress
import Multicast

/// Hubs in a ring, whose callbacks add, remove, cancel and wait, and invoke their hub and the next
/// one, at depth, on every thread; some delegates remove themselves in their `deinit`.
enum Reentrancy: Scenario {
  static let name = "reentrancy"
  static let promise =
    "every operation is allowed inside a callback and a deinit, and does what it does outside"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      ReentrancyRound(trial, operations: 4 << Int.random(in: 0..<5, using: &generator))
    }
  }
}

/// A delegate in one of the hubs.
private final class RingTarget: Target, @unchecked Sendable {
  // Sendable: `isRemoved` is touched by the thread of its owner alone; for the rest as for the
  // superclass.
  let calls = Counter()
  /// The thread that adds and removes it; -1 if none does.
  let owner: Int
  /// When its owner has added it, in that thread's own time.
  let added: Int
  var isRemoved = false
  private let onDeinit: (@Sendable (RingTarget) -> Void)?

  init(
    _ id: Int, _ lifetimes: LifetimeTracker, owner: Int = -1, added: Int = 0,
    onDeinit: (@Sendable (RingTarget) -> Void)? = nil
  ) {
    self.owner = owner
    self.added = added
    self.onDeinit = onDeinit
    super.init(id, lifetimes)
  }

  deinit { onDeinit?(self) }
}

/// The callbacks that a thread is in, and the delegates it owns.
private struct Nesting {
  /// What this thread has registered and not yet removed.
  var mine: [(target: RingTarget, registration: Registration<RingTarget>, hub: Int)] = []
  /// What this thread is calling, outermost first.
  var called: [ObjectIdentifier] = []
  /// Counts what this thread does.
  var time = 0
}

/// Three hubs, and their residents.
private final class ReentrancyRound: ScenarioRound {
  private static let ring = 3
  private static let deepest = 4

  private let trial: Trial
  private let operations: Int
  private let hubs: [MulticastDelegate<RingTarget>]
  private let residents: [RingTarget]
  private let invocations: [Counter]

  init(_ trial: Trial, operations: Int) {
    self.trial = trial
    self.operations = operations
    hubs = (0..<Self.ring).map { _ in MulticastDelegate(storage: trial.storage) }
    residents = (0..<Self.ring).map { RingTarget($0, trial.lifetimes) }
    invocations = (0..<Self.ring).map { _ in Counter() }
    for (hub, resident) in zip(hubs, residents) { hub.add(resident) }
  }

  func work(_ worker: inout Worker) {
    var nesting = Nesting()
    for _ in 0..<operations { act(&worker, &nesting, worker.pick(Self.ring)) }
    for (_, registration, _) in nesting.mine { registration.cancel() }
  }

  func check() {
    for index in 0..<Self.ring {
      let (calls, invocations) = (residents[index].calls.value, invocations[index].value)
      trial.expect(
        calls == invocations, "a resident was called \(calls) times in \(invocations) invocations")
      trial.expect(
        hubs[index].map(\.id) == [index], "\(hubs[index].count) delegates are left in a hub")
    }
  }

  /// Does something to a hub, perhaps inside a callback.
  private func act(_ worker: inout Worker, _ nesting: inout Nesting, _ hub: Int) {
    nesting.time += 1
    switch worker.pick(8) {
    case 0, 1: add(&worker, &nesting, hub)
    case 2, 3: remove(&worker, &nesting)
    case 4: worker.once(in: 2) ? dropAtOnce(&worker, hub) : emptyAtOnce(&worker)
    case 5: invoke(&worker, &nesting, (hub + 1) % Self.ring)
    default: invoke(&worker, &nesting, hub)
    }
  }

  private func add(_ worker: inout Worker, _ nesting: inout Nesting, _ hub: Int) {
    guard nesting.mine.count < trial.delegates else { return }
    worker.begin("add")
    let target = RingTarget(-1, trial.lifetimes, owner: worker.index, added: nesting.time)
    let registration = hubs[hub].add(target, ownership: worker.once(in: 2) ? .strong : .weak)
    nesting.mine.append((target, registration, hub))
  }

  private func remove(_ worker: inout Worker, _ nesting: inout Nesting) {
    guard !nesting.mine.isEmpty else { return }
    let (target, registration, hub) = nesting.mine.remove(at: worker.pick(nesting.mine.count))
    switch worker.pick(3) {
    case 0:
      worker.begin("remove")
      trial.expect(hubs[hub].remove(target), "remove did not find a delegate that is registered")
    case 1 where nesting.called.isEmpty || nesting.called.contains(ObjectIdentifier(target)):
      // Elsewhere it might wait for a thread that waits for this one.
      worker.begin("cancelAndWait")
      trial.expect(
        registration.cancelAndWait(timeout: .seconds(3600)), "cancelAndWait gave up")
    default:
      worker.begin("cancel")
      registration.cancel()
    }
    target.isRemoved = true
  }

  /// Registers a delegate that is destroyed at once, with its last reference or, if the hub holds
  /// that, with its registration. Its `deinit` uses the hub.
  private func dropAtOnce(_ worker: inout Worker, _ index: Int) {
    worker.begin("drop")
    let (hub, resident, invocations) = (hubs[index], residents[index], invocations[index])
    let registration = hub.add(
      RingTarget(-1, trial.lifetimes) { gone in
        hub.remove(gone)
        hub.add(resident)  // It is registered already.
        invocations.add()
        hub.forEach { $0.calls.add() }
      }, ownership: worker.once(in: 2) ? .strong : .weak)
    registration.cancel()
  }

  /// Empties a hub that is the last owner of its delegates, whose `deinit` uses the hub.
  private func emptyAtOnce(_ worker: inout Worker) {
    worker.begin("removeAll")
    let hub = MulticastDelegate<RingTarget>(storage: trial.storage)
    for _ in 0..<2 {
      hub.add(
        RingTarget(-1, trial.lifetimes) { [unowned hub] gone in
          hub.remove(gone)
          hub.forEach { $0.calls.add() }
        }, ownership: .strong)
    }
    hub.removeAll()
    trial.expect(hub.isEmpty, "\(hub.count) delegates are left in a hub that was emptied")
  }

  private func invoke(_ worker: inout Worker, _ nesting: inout Nesting, _ hub: Int) {
    guard nesting.called.count < Self.deepest else { return }
    worker.begin("forEach")
    let began = nesting.time
    let mine = nesting.mine.filter { $0.hub == hub }.map(\.target)
    var seen: Set<ObjectIdentifier> = []
    invocations[hub].add()
    hubs[hub].forEach { target in
      target.noteCall()
      target.calls.add()
      let isNew = seen.insert(ObjectIdentifier(target)).inserted
      trial.expect(isNew, "a delegate was called twice by one invocation")
      if target.owner == worker.index {
        trial.expect(
          !target.isRemoved, "a delegate was called that this thread had removed before")
        trial.expect(
          target.added <= began, "a delegate was called that was added during the invocation")
      }
      nesting.called.append(ObjectIdentifier(target))
      if worker.once(in: 4) { act(&worker, &nesting, hub) }
      nesting.called.removeLast()
    }
    for target in mine where !target.isRemoved {
      trial.expect(
        seen.contains(ObjectIdentifier(target)),
        "a delegate was not called that was registered throughout")
    }
  }
}
