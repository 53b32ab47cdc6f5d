import ConcurrencyStress
import Dispatch
import Multicast

/// Every thread applies changes to a state, subscribers with small buffers come and go, and some
/// are blocked for a while.
enum States: Scenario {
  static let name = "states"
  static let promise =
    "when nothing is under way, what each subscriber has folded equals the state, whatever was dropped"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      StatesRound(
        trial, operations: 8 << Int.random(in: 0..<5, using: &generator),
        limit: [1, 2, 7, .max].randomElement(using: &generator)!)
    }
  }
}

/// A state that depends on the order of its changes.
private struct Chain: Sendable, Equatable {
  var count = 0
  var hash: UInt64 = 17

  mutating func append(_ change: Int) {
    count += 1
    hash = (hash ^ UInt64(bitPattern: Int64(change))) &* 0x1_0000_0001_B3
  }
}

private typealias Hub = StateHub<Chain, Int>
private typealias Update = StateUpdate<Chain, Int>

/// What a subscriber has folded.
private final class Copy: Sendable {
  private struct Content {
    var state: Chain?
    var stray = false
  }

  private let content = Guarded(Content())

  func receive(_ update: Update) {
    content.withLock { content in
      switch update {
      case .snapshot(let state): content.state = state
      case .change(let change):
        if content.state == nil { content.stray = true }
        content.state?.append(change)
      }
    }
  }

  var state: Chain? { content.withLock { $0.state } }
  var hadStray: Bool { content.withLock { $0.stray } }
}

private final class StatesRound: ScenarioRound {
  private let trial: Trial
  private let operations: Int
  private let limit: Int
  private let hub: Hub
  private let applied = Counter()
  private let residents = (0..<4).map { _ in Copy() }
  private let subscriptions: [EventSubscription]
  /// Copies of subscribers that came while changes were applied.
  private let guests: PerThread<[(copy: Copy, subscription: EventSubscription)]>
  /// The subscription that each thread has blocked, if any.
  private let blocks: PerThread<[EventSubscription]>

  init(_ trial: Trial, operations: Int, limit: Int) {
    self.trial = trial
    self.operations = operations
    self.limit = limit
    let hub = Hub(Chain(), storage: trial.storage) { $0.append($1) }
    self.hub = hub
    let residents = residents
    subscriptions = [
      hub.subscribe { residents[0].receive($0) },
      hub.subscribe(on: .global(), keepingUpTo: limit) { residents[1].receive($0) },
      hub.subscribe(on: .main, keepingUpTo: limit) { residents[2].receive($0) },
    ]
    let sequence = hub.updates(keepingUpTo: limit)
    Task { for await update in sequence { residents[3].receive(update) } }
    guests = PerThread(repeating: [], threads: trial.threads)
    blocks = PerThread(repeating: [], threads: trial.threads)
  }

  func work(_ worker: inout Worker) {
    for operation in 1...operations {
      if worker.once(in: 16) {
        worker.begin("update")
        hub.update { $0.append(-1) }
      } else {
        worker.begin("apply")
        hub.apply(worker.index * operations + operation)
      }
      applied.add(1)
      if worker.once(in: 8) {
        worker.begin("block or unblock")
        if let blocked = blocks[worker.index].popLast() {
          blocked.unblock()
        } else if let resident = subscriptions.randomElement(using: &worker.generator) {
          resident.block()
          blocks[worker.index].append(resident)
        }
      }
      guard worker.once(in: 8) else { continue }
      let copy = Copy()
      worker.begin("subscribe")
      let subscription =
        worker.once(in: 2)
        ? hub.subscribe { copy.receive($0) }
        : hub.subscribe(on: .global(), keepingUpTo: limit) { copy.receive($0) }
      if worker.once(in: 2) {
        worker.begin("cancel")
        subscription.cancel()
      } else {
        guests[worker.index].append((copy, subscription))
      }
    }
  }

  func check() {
    for subscription in blocks.all.joined() { subscription.unblock() }
    let state = hub.value
    trial.expect(
      state.count == applied.value,
      "\(applied.value) changes were applied, and \(state.count) folded")
    for copy in residents + guests.all.joined().map(\.copy) {
      trial.wait(for: "a subscriber did not get the state") { copy.state == state }
      trial.expect(!copy.hadStray, "a change came before the first snapshot")
    }
    hub.finish()
  }
}
