import ConcurrencyStress
import Multicast

/// Two or three threads do up to three operations each on a new hub, over and over. The results are
/// compared with those of an ordered set.
enum Linearizability: Scenario {
  static let name = "linearizability"
  static let promise =
    "small histories have the results of an ordered set, whose invocations check each delegate in "
    + "order"

  static func run(_ trial: Trial) {
    let threads = min(3, max(2, trial.threads))
    trial.runRounds(threads: threads) { generator in
      LinearRound(trial, threads: threads, &generator)
    }
  }
}

/// Many hubs, one for each history.
private final class LinearRound: ScenarioRound {
  private static let histories = 64
  private static let delegates = 3

  private let trial: Trial
  private let threads: Int
  private let barrier: StartBarrier
  private let targets: [Target]
  private let hubs: [Recorded]
  /// What each thread has done in each history.
  private let recorded: PerThread<[[LinearHistory.Operation]]>

  /// One hub, its clock, and what was done to it before the threads begin.
  private struct Recorded {
    let hub: MulticastDelegate<Target>
    let clock = LogicalClock()
    var before: [LinearHistory.Operation] = []
  }

  init(_ trial: Trial, threads: Int, _ generator: inout SplitMix64) {
    self.trial = trial
    self.threads = threads
    barrier = StartBarrier(threads, seconds: .infinity)
    let targets = (0..<Self.delegates).map { Target($0, trial.lifetimes) }
    self.targets = targets
    hubs = (0..<Self.histories).map { _ in
      var recorded = Recorded(hub: MulticastDelegate(storage: trial.storage))
      for target in targets.shuffled(using: &generator)
      where Bool.random(using: &generator) {
        let began = recorded.clock.tick()
        recorded.hub.add(target)
        recorded.before.append(
          .init(action: .add(target.id), began: began, returned: recorded.clock.tick()))
      }
      return recorded
    }
    recorded = PerThread(repeating: [], threads: threads)
  }

  func work(_ worker: inout Worker) {
    var mine: [[LinearHistory.Operation]] = []
    mine.reserveCapacity(hubs.count)
    for hub in hubs {
      var operations: [LinearHistory.Operation] = []
      operations.reserveCapacity(3)
      // The third thread may do nothing.
      let count = worker.index < 2 ? 1 + worker.pick(3) : worker.pick(4)
      var additions: [(operation: Int, registration: Registration<Target>)] = []
      barrier.arriveAndWait()
      worker.spin(upTo: 16)
      for _ in 0..<count { act(&worker, hub, &operations, &additions) }
      mine.append(operations)
    }
    recorded[worker.index] = mine
    worker.begin("meets the others")
    barrier.arriveAndWait()
    worker.begin("checks histories")
    for number in stride(from: worker.index, to: hubs.count, by: threads) { check(number) }
  }

  /// Nothing is left to check: the threads share that work.
  func check() {}

  private func act(
    _ worker: inout Worker, _ recorded: Recorded,
    _ operations: inout [LinearHistory.Operation],
    _ additions: inout [(operation: Int, registration: Registration<Target>)]
  ) {
    let (hub, clock) = (recorded.hub, recorded.clock)
    let target = targets[worker.pick(targets.count)]
    let action: LinearHistory.Action
    let began: Int
    switch (worker.pick(8), additions.last) {
    case (0, _), (1, _):
      worker.begin("add")
      began = clock.tick()
      additions.append((operations.count, hub.add(target)))
      action = .add(target.id)
    case (2, _):
      worker.begin("remove")
      began = clock.tick()
      action = .remove(target.id, found: hub.remove(target))
    case (3, _):
      worker.begin("contains")
      began = clock.tick()
      action = .contains(target.id, found: hub.contains(target))
    case (4, let (operation, registration)?):
      worker.begin("cancel")
      began = clock.tick()
      registration.cancel()
      action = .cancel(operation)
    case (5, let (operation, registration)?):
      worker.begin("isActive")
      began = clock.tick()
      action = .isActive(operation, registration.isActive)
    default:
      worker.begin("forEach")
      var called: [Int] = []
      called.reserveCapacity(targets.count)
      began = clock.tick()
      hub.forEach { called.append($0.id) }
      action = .invoke(called)
    }
    operations.append(.init(action: action, began: began, returned: clock.tick()))
  }

  private func check(_ number: Int) {
    var history = LinearHistory(operations: hubs[number].before)
    for thread in 0..<threads {
      let first = history.operations.count
      for var operation in recorded[thread][number] {
        operation.thread = thread
        // Threads name their own operations.
        switch operation.action {
        case .cancel(let addition): operation.action = .cancel(first + addition)
        case .isActive(let addition, let isActive):
          operation.action = .isActive(first + addition, isActive)
        default: break
        }
        history.operations.append(operation)
      }
    }
    trial.expect(history.isLinearizable, "no order explains\n\(history.columns)")
  }
}
