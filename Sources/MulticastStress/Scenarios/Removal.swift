import Multicast
import MulticastTestSupport
import Synchronization

/// Some threads invoke all the time, the others register a delegate, and end that with
/// `cancelAndWait`.
enum Removal: Scenario {
  static let name = "removal"
  static let promise =
    "when cancelAndWait has returned, the callback is not running, and never will"

  static func run(_ trial: Trial) {
    let threads = max(2, trial.threads)
    trial.runRounds(
      threads: threads,
      setUp: { generator in
        RemovalRound(
          trial, removers: threads - threads / 2,
          operations: 4 << Int.random(in: 0..<4, using: &generator))
      },
      work: { round, worker in round.work(&worker) },
      check: { round in round.check() })
  }
}

/// A delegate that knows whether it is being called.
private final class RemovalTarget: Target, @unchecked Sendable {
  // Sendable: as for the superclass.
  let calls = Counter()
  let inside = Counter()
  /// Written by callbacks and read when none is running; the thread sanitizer looks whether that is
  /// so.
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
    worker.dawdle(upTo: 32)
    inside.add(-1)
  }

  var traced: Int? { isTraced ? trace.pointee : nil }
}

/// One hub, those who invoke, and those who remove.
private final class RemovalRound: @unchecked Sendable {
  // Sendable: each element of `ended` is touched by its thread alone, and when all are done.
  private let trial: Trial
  private let removers: Int
  private let operations: Int
  private let hub: MulticastDelegate<RemovalTarget>
  private let removersLeft: Counter
  private let ended: UnsafeMutablePointer<[(target: RemovalTarget, calls: Int)]>

  init(_ trial: Trial, removers: Int, operations: Int) {
    self.trial = trial
    self.removers = removers
    self.operations = operations
    hub = MulticastDelegate(storage: trial.storage)
    removersLeft = Counter()
    removersLeft.add(removers)
    ended = .allocate(capacity: removers)
    ended.initialize(repeating: [], count: removers)
  }

  deinit {
    ended.deinitialize(count: removers)
    ended.deallocate()
  }

  func work(_ worker: inout Worker) {
    guard worker.index >= removers else {
      for _ in 0..<operations { addAndRemove(&worker) }
      removersLeft.add(-1)
      return
    }
    while removersLeft.value > 0 {
      worker.does("forEach")
      hub.forEach { $0.receive(&worker) }
    }
  }

  private func addAndRemove(_ worker: inout Worker) {
    worker.does("add")
    let callers = trial.seats.count - 1 - removers
    let target = RemovalTarget(trial.lifetimes, isTraced: callers == 1)
    let registration = hub.add(target, ownership: worker.once(in: 2) ? .strong : .weak)
    // Most often the callers have found it by then.
    var looks = 0
    while target.calls.value == 0 && looks < 2000 {
      worker.seat.add(0)
      looks += 1
    }
    worker.dawdle()
    worker.does("cancelAndWait")
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
    // Keeping some until the end shows calls that come much later; dropping others, reuse.
    if worker.once(in: 2) { ended[worker.index].append((target, calls)) }
  }

  func check() {
    for (target, calls) in (0..<removers).flatMap({ ended[$0] }) {
      trial.expect(
        target.calls.value == calls, "a callback ran after cancelAndWait had returned")
    }
    trial.expect(hub.isEmpty, "\(hub.count) delegates are left in the hub")
  }
}
