import ConcurrencyStress
import Multicast

/// Some threads invoke all the time; the others register delegates, and cancel them with
/// `cancelAndWait`.
enum Removal: Scenario {
  static let name = "removal"
  static let promise =
    "when cancelAndWait has returned, the callback is not running, and never will"

  static func run(_ trial: Trial) {
    let threads = max(2, trial.threads)
    trial.runRounds(threads: threads) { generator in
      RemovalRound(
        trial, removers: threads - threads / 2, callers: threads / 2,
        operations: 4 << Int.random(in: 0..<4, using: &generator))
    }
  }
}

/// A delegate that knows whether it is being called.
private final class RemovalTarget: Target, @unchecked Sendable {
  // Sendable: as for the superclass.
  let calls = Counter()
  let inside = Counter()
  /// Written by callbacks and read when none is running; the thread sanitizer checks that.
  private let trace: UnsafeMutablePointer<Int>
  /// How many threads call: if one does, the trace is its own.
  private let isTraced: Bool

  init(_ lifetimes: LifetimeTracker, isTraced: Bool) {
    self.isTraced = isTraced
    trace = .allocate(capacity: 1)
    trace.initialize(to: 0)
    super.init(0, lifetimes)
  }

  deinit { trace.deallocate() }

  func receive(_ worker: inout Worker) {
    inside.add(1)
    noteCall()
    calls.add(1)
    if isTraced { trace.pointee += 1 }
    worker.spin(upTo: 32)
    inside.add(-1)
  }

  var traced: Int? { isTraced ? trace.pointee : nil }
}

/// One hub, the threads that invoke it, and the threads that remove delegates.
private final class RemovalRound: ScenarioRound {
  private let trial: Trial
  private let removers: Int
  private let callers: Int
  private let operations: Int
  private let hub: MulticastDelegate<RemovalTarget>
  private let removersLeft = Counter()
  private let ended: PerThread<[(target: RemovalTarget, calls: Int)]>

  init(_ trial: Trial, removers: Int, callers: Int, operations: Int) {
    self.trial = trial
    self.removers = removers
    self.callers = callers
    self.operations = operations
    hub = MulticastDelegate(storage: trial.storage)
    removersLeft.add(removers)
    ended = PerThread(repeating: [], threads: removers)
  }

  func work(_ worker: inout Worker) {
    guard worker.index >= removers else {
      for _ in 0..<operations { addAndRemove(&worker) }
      removersLeft.add(-1)
      return
    }
    while removersLeft.value > 0 {
      worker.begin("forEach")
      hub.forEach { $0.receive(&worker) }
    }
  }

  private func addAndRemove(_ worker: inout Worker) {
    worker.begin("add")
    let target = RemovalTarget(trial.lifetimes, isTraced: callers == 1)
    let registration = hub.add(target, ownership: worker.once(in: 2) ? .strong : .weak)
    // Mostly the callers have found it by then.
    var polls = 0
    while target.calls.value == 0 && polls < 2000 {
      worker.activity.add(0)
      polls += 1
    }
    worker.spin()
    worker.begin("cancelAndWait")
    let held = registration.cancelAndWait(timeout: .seconds(3600))
    trial.expect(held, "cancelAndWait gave up")
    target.poison()
    let inside = target.inside.value
    trial.expect(inside == 0, "\(inside) callbacks were running when cancelAndWait had returned")
    let calls = target.calls.value
    if let traced = target.traced {
      trial.expect(traced == calls, "what a callback wrote was not seen after cancelAndWait")
    }
    trial.expect(!registration.isActive, "a registration is active after its end")
    // Keeping some until the end shows late calls; releasing others shows reuse of their memory.
    if worker.once(in: 2) { ended[worker.index].append((target, calls)) }
  }

  func check() {
    for (target, calls) in ended.all.joined() {
      trial.expect(
        target.calls.value == calls, "a callback ran after cancelAndWait had returned")
    }
    trial.expect(hub.isEmpty, "\(hub.count) delegates are left in the hub")
  }
}
