import ConcurrencyStress
import Multicast

/// Every thread sends to an asynchronous handler, which now and then has nothing to do.
enum AsyncHandlers: Scenario {
  static let name = "async-handlers"
  static let promise =
    "an asynchronous handler is called with every event, one at a time and in the order of each "
    + "sender"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      AsyncHandlersRound(
        trial, events: 32 << Int.random(in: 0..<6, using: &generator),
        pause: 1 << Int.random(in: 0..<12, using: &generator))
    }
  }
}

private final class AsyncHandlersRound: ScenarioRound, Sendable {
  private let trial: Trial
  private let events: Int
  /// The most steps that a thread spins between two events.
  private let pause: Int
  private let hub: EventHub<Payload>
  private let subscription: EventSubscription
  private let log: HandlerLog

  init(_ trial: Trial, events: Int, pause: Int) {
    self.trial = trial
    self.events = events
    self.pause = pause
    hub = EventHub(storage: trial.storage)
    let log = HandlerLog(senders: trial.threads)
    self.log = log
    subscription = hub.subscribe { (event: Payload) async in log.receive(event) }
  }

  func work(_ worker: inout Worker) {
    for number in 1...events {
      worker.begin("send")
      hub.send(Payload(number, from: worker.index, trial.lifetimes))
      worker.spin(upTo: pause)
    }
  }

  func check() {
    trial.wait(for: "a handler slept while events waited") { subscription.statistics?.pending == 0 }
    trial.expect(log.overlaps == 0, "\(log.overlaps) calls began during another one")
    let sent = events * trial.threads
    trial.expect(
      subscription.statistics?.delivered == sent,
      "\(subscription.statistics?.delivered ?? 0) of \(sent) events are counted as delivered")
    for (sender, run) in log.takeRuns().enumerated() {
      if let gap = run.gap {
        trial.fail("sender \(sender): \(gap.came) came after \(gap.after)")
      }
      trial.expect(
        run.first == 1 && run.last == events,
        "sender \(sender): \(run.first) to \(run.last) of \(events) events came")
    }
    subscription.cancel()
    // The task that has called the handler may hold the last event for a moment.
    trial.wait(for: "events were not destroyed") { trial.lifetimes.live == 0 }
  }
}

/// What a handler has received.
private final class HandlerLog: Sendable {
  private let runs: Guarded<[ReceivedRun]>
  private let running = Counter()
  private let overlapping = Counter()

  init(senders: Int) {
    runs = Guarded(Array(repeating: ReceivedRun(), count: senders))
  }

  var overlaps: Int { overlapping.value }

  func receive(_ event: Payload) {
    running.add(1)
    if running.value > 1 { overlapping.add(1) }
    runs.withLock { $0[event.sender].receive(event.number) }
    running.add(-1)
  }

  func takeRuns() -> [ReceivedRun] { runs.withLock { $0 } }
}
