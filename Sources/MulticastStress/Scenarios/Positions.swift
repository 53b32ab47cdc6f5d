import ConcurrencyStress
import Dispatch
import Multicast

/// Every thread sends to a hub that retains few events, and subscribers come, go, and come back
/// after the position that they had reached.
enum Positions: Scenario {
  static let name = "positions"
  static let promise =
    "each subscriber gets every event after its start once, in order, or the range that is missing"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      PositionsRound(
        trial, operations: 8 << Int.random(in: 0..<5, using: &generator),
        limit: [1, 3, 20, 100, .max].randomElement(using: &generator)!)
    }
  }
}

/// What one subscriber received, and where it began.
struct PositionedRun: Sendable {
  /// An element, without its event.
  enum Element: Sendable, Equatable {
    case event(number: UInt64)
    case missed(after: UInt64, through: UInt64)
  }

  let start: UInt64
  private(set) var end: UInt64
  /// The first element that may not come there.
  private(set) var violation: String?

  init(after start: UInt64) {
    self.start = start
    end = start
  }

  mutating func receive(_ element: Element) {
    switch element {
    case .event(let number):
      if number != end + 1 { violation = violation ?? "event \(number) came after \(end)" }
      end = max(end, number)
    case .missed(let after, let through):
      if after != end || through <= after {
        violation = violation ?? "\(after)-\(through) was missing after \(end)"
      }
      end = max(end, through)
    }
  }
}

private struct SentEvent: Sendable {
  let sender: Int
  let number: Int
}

private typealias Hub = EventHub<SentEvent>

/// A subscriber from its beginning to its end.
private final class Follower: Sendable {
  private struct Content {
    var run: PositionedRun
    /// Each event, by its position.
    var events: [(position: UInt64, sender: Int, number: Int)] = []
  }

  private let content: Guarded<Content>

  init(after start: UInt64) { content = Guarded(Content(run: PositionedRun(after: start))) }

  func receive(_ element: PositionedEvent<SentEvent>) {
    content.withLock { content in
      switch element {
      case .event(let event, let position):
        content.run.receive(.event(number: position.number))
        content.events.append((position.number, event.sender, event.number))
      case .missed(let range):
        content.run.receive(
          .missed(after: range.after.number, through: range.through.number))
      }
    }
  }

  var end: UInt64 { content.withLock { $0.run.end } }
  var violation: String? { content.withLock { $0.run.violation } }
  var events: [(position: UInt64, sender: Int, number: Int)] { content.withLock { $0.events } }
}

private final class PositionsRound: ScenarioRound {
  private let trial: Trial
  private let operations: Int
  private let hub: Hub
  private let residents = (0..<4).map { _ in Follower(after: 0) }
  private let subscriptions: [EventSubscription]
  private let task: Task<Void, Never>
  /// Subscribers that came while events were sent; `nil`: it has left.
  private let guests: PerThread<[(follower: Follower, subscription: EventSubscription?)]>
  /// The position of each event of a thread.
  private let sent: PerThread<[UInt64]>

  init(_ trial: Trial, operations: Int, limit: Int) {
    self.trial = trial
    self.operations = operations
    let hub = Hub(retention: limit == .max ? .all : .last(limit), storage: trial.storage)
    self.hub = hub
    let residents = residents
    subscriptions = [
      hub.subscribe(from: .live, on: .sender) { residents[0].receive($0) },
      hub.subscribe(from: .live, on: .global()) { residents[1].receive($0) },
      hub.subscribe(from: .live, on: .main) { residents[2].receive($0) },
    ]
    let sequence = hub.events(from: .live)
    task = Task { for await element in sequence { residents[3].receive(element) } }
    guests = PerThread(repeating: [], threads: trial.threads)
    sent = PerThread(repeating: [], threads: trial.threads)
  }

  func work(_ worker: inout Worker) {
    for number in 1...operations {
      worker.begin("publish")
      let event = SentEvent(sender: worker.index, number: number)
      sent[worker.index].append(hub.publish(event)!.number)
      switch worker.pick(24) {
      case 0:
        worker.begin("block and unblock")
        let subscription = subscriptions[worker.pick(subscriptions.count)]
        subscription.block()
        hub.publish(SentEvent(sender: -1, number: 0))
        subscription.unblock()
      case 1, 2: follow(&worker)
      default: break
      }
    }
  }

  /// Subscribes after the position that an earlier subscriber of the thread has reached.
  private func follow(_ worker: inout Worker) {
    var start = hub.newestPosition
    let count = guests[worker.index].count
    // The last two stay, so that the cost of a send stays the same.
    if count >= 2 {
      worker.begin("cancel")
      let old = guests[worker.index][count - 2]
      trial.expect(
        old.subscription?.cancelAndWait(timeout: .seconds(3600)) ?? true, "cancelAndWait gave up")
      guests[worker.index][count - 2].subscription = nil
      if worker.once(in: 2) {
        start = EventPosition(epoch: start.epoch, number: old.follower.end)
      }
    }
    let follower = Follower(after: start.number)
    worker.begin("subscribe")
    let subscription =
      worker.once(in: 2)
      ? hub.subscribe(from: .after(start), on: .sender) { follower.receive($0) }
      : hub.subscribe(from: .after(start), on: .global()) { follower.receive($0) }
    guests[worker.index].append((follower, subscription))
  }

  func check() {
    let all = guests.all.joined()
    let total = hub.newestPosition.number
    trial.expect(hub.flush(timeout: .seconds(trial.patience)), "a flush did not end")
    for follower in residents + all.filter({ $0.subscription != nil }).map(\.follower) {
      trial.expect(follower.end == total, "after a flush, \(follower.end) of \(total) had come")
    }
    let sent = sent.all
    for follower in residents + all.map(\.follower) {
      trial.expect(follower.violation == nil, follower.violation ?? "")
      let isTrue = follower.events.allSatisfy { position, sender, number in
        sender < 0 || sent[sender][number - 1] == position
      }
      trial.expect(isTrue, "an event came at another position than its own")
    }
    hub.finish()
    trial.wait(for: "a subscription did not end") { hub.subscriberCount == 0 }
  }
}
