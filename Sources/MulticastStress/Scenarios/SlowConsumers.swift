import ConcurrencyStress
import Dispatch
import Multicast

/// Every thread sends as fast as it can to subscribers that consume nothing, with every policy.
enum SlowConsumers: Scenario {
  static let name = "slow-consumers"
  static let promise =
    "a slow consumer keeps no more events than its policy says, slows no other one, and every drop "
    + "is counted"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      SlowConsumersRound(
        trial, operations: 32 << Int.random(in: 0..<6, using: &generator),
        coalesces: Int.random(in: 0..<4, using: &generator) == 0)
    }
  }
}

private final class SlowConsumersRound: ScenarioRound, @unchecked Sendable {
  // Sendable: `consumers` and `waiting` are accessed when the threads are done.
  private static let limit = 8
  private static let keys = 4

  private let trial: Trial
  private let operations: Int
  /// Whether a subscriber coalesces. While one sender compares keys, the events of others wait for
  /// it: their number depends on how long that sender is preempted.
  private let coalesces: Bool
  private let hub: EventHub<Payload>
  private let quick: EventSubscription
  private let quickCount = Counter()
  /// A queue that runs nothing before the threads are done.
  private let suspended = DispatchQueue(label: "suspended")
  private var waiting: [(subscription: EventSubscription, limit: Int)] = []
  private var consumers: [Consumer] = []

  /// A sequence that is not iterated before the threads are done.
  private struct Consumer {
    let policy: String
    let limit: Int
    let sequence: EventSequence<Payload>
    let iterator: EventSequence<Payload>.Iterator
    /// Which events it keeps.
    let keeps: Kept
  }

  /// Which events of those that were sent a full buffer holds.
  private enum Kept {
    case oldest
    case newest
    case any
  }

  init(_ trial: Trial, operations: Int, coalesces: Bool) {
    self.trial = trial
    self.operations = operations
    self.coalesces = coalesces
    let hub = EventHub<Payload>(storage: trial.storage)
    self.hub = hub
    let count = quickCount
    quick = hub.subscribe { _ in count.add(1) }
    suspended.suspend()
    for limit in [Self.limit, 1] {
      let policy = BufferingPolicy<Payload>.bounded(limit, whenFull: .dropOldest)
      waiting.append((hub.subscribe(on: suspended, buffering: policy) { _ in }, limit))
    }
    let (limit, keys) = (Self.limit, Self.keys)
    for (name, limit, keeps, policy): (String, Int, Kept, BufferingPolicy<Payload>) in [
      ("dropOldest", limit, .newest, .bounded(limit, whenFull: .dropOldest)),
      ("dropNewest", limit, .oldest, .bounded(limit, whenFull: .dropNewest)),
      ("suspend", limit, .oldest, .bounded(limit, whenFull: .suspend)),
      ("disconnect", limit, .oldest, .bounded(limit, whenFull: .disconnect)),
      ("latest", 1, .newest, .latest),
      ("coalescing", keys, .any, .coalescing { $0.number % keys }),
    ] where coalesces || name != "coalescing" {
      let sequence = hub.events(buffering: policy)
      consumers.append(
        Consumer(
          policy: name, limit: limit, sequence: sequence, iterator: sequence.makeAsyncIterator(),
          keeps: keeps))
    }
  }

  func work(_ worker: inout Worker) {
    // What all buffers may hold, and the few events that each thread is sending.
    let bound = 5 * Self.limit + 2 + 8 * trial.threads
    for number in 1...operations {
      worker.begin("send")
      hub.send(Payload(number, from: worker.index, trial.lifetimes))
      guard number.isMultiple(of: 16), !coalesces else { continue }
      // In this order: what others send between the two loads does not count.
      let created = trial.lifetimes.created
      let live = created - trial.lifetimes.destroyed
      trial.expect(
        live <= bound, "\(live) events are kept, where the buffers hold at most \(bound)")
    }
  }

  func check() {
    let sent = operations * trial.threads
    trial.expect(
      quickCount.value == sent, "a quick handler got \(quickCount.value) of \(sent) events")
    var dropped = 0
    for consumer in consumers {
      let statistics = consumer.iterator.statistics
      check(consumer.policy, statistics, sent, limit: consumer.limit)
      dropped += statistics.dropped
    }
    for (subscription, limit) in waiting {
      guard let statistics = subscription.statistics else {
        trial.fail("a subscription with a queue has no statistics")
        continue
      }
      check("a queue", statistics, sent, limit: limit)
      dropped += statistics.dropped
    }
    trial.expect(
      hub.statistics.dropped == dropped,
      "the hub counts \(hub.statistics.dropped) drops, and its subscribers \(dropped)")
    hub.finish()
    takeWhatWaits()
    suspended.resume()
    waiting = []
    consumers = []
    trial.wait(for: "events were not destroyed") { trial.lifetimes.live == 0 }
  }

  private func check(_ policy: String, _ statistics: DeliveryStatistics, _ sent: Int, limit: Int) {
    trial.expect(
      statistics.enqueued == sent, "\(policy): \(statistics.enqueued) of \(sent) events counted")
    trial.expect(
      statistics.pending == min(limit, sent),
      "\(policy): \(statistics.pending) events wait where the limit is \(limit)")
  }

  /// Iterates to the end, and checks the events.
  private func takeWhatWaits() {
    let (consumers, trial, operations) = (Sent(consumers), trial, operations)
    let isDone = Counter()
    Task {
      for consumer in consumers.value {
        var log: [Int: ReceivedRun] = [:]
        var count = 0
        while let event = await consumer.iterator.next() {
          log[event.sender, default: ReceivedRun()].receive(event.number)
          count += 1
        }
        let sent = operations * trial.threads
        trial.expect(
          count == min(consumer.limit, sent), "\(consumer.policy): \(count) events came at last")
        for run in log.values where consumer.keeps != .any {
          trial.expect(run.gap == nil, "\(consumer.policy): a gap in what waited")
          trial.expect(
            consumer.keeps == .oldest ? run.first == 1 : run.last == operations,
            "\(consumer.policy): \(run.first) to \(run.last) of \(operations) came at last")
        }
      }
      isDone.add(1)
    }
    trial.wait(for: "consumers of a hub that has finished did not end") { isDone.value == 1 }
  }

  /// Consumers that a task uses, and this thread does not in the meantime.
  private struct Sent: @unchecked Sendable {
    // Sendable: an iterator belongs to one task at a time, and this thread waits for that one.
    let value: [Consumer]

    init(_ value: [Consumer]) {
      self.value = value
    }
  }
}
