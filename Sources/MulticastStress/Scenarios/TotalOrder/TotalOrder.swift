import ConcurrencyStress
import Dispatch
import Multicast

/// Every thread sends, and so does a handler; some subscribers are subscribed for a while.
enum TotalOrder: Scenario {
  static let name = "total-order"
  static let promise = "all subscribers see one order, also of events that handlers send"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      TotalOrderRound(
        trial, operations: 8 << Int.random(in: 0..<5, using: &generator),
        replay: Int.random(in: 0..<2, using: &generator) * 4)
    }
  }
}

private typealias Event = OrderHistory.Event

/// What one subscriber has received.
private final class OrderLog: @unchecked Sendable {
  // Sendable: `events` is accessed by the thread that delivers to the one subscriber, and when all
  // deliveries have ended.
  private(set) var events: [Event] = []
  private let received = Counter()

  func receive(_ event: Event) {
    events.append(event)
    received.add(1)
  }

  var count: Int { received.value }
}

private final class TotalOrderRound: ScenarioRound, @unchecked Sendable {
  // Sendable: `reactions` is accessed by the thread that delivers, and when all threads are done;
  // `subscriptions` before the threads begin, and when they are done.
  private let trial: Trial
  private let operations: Int
  private let hub: EventHub<Event>
  private var subscriptions: [EventSubscription] = []
  private let logs = (0..<5).map { _ in OrderLog() }
  private let guests: PerThread<[OrderLog]>
  private var reactions = 0

  init(_ trial: Trial, operations: Int, replay: Int) {
    self.trial = trial
    self.operations = operations
    let hub = EventHub<Event>(replay: replay, ordering: .total, storage: trial.storage)
    self.hub = hub
    guests = PerThread(repeating: [], threads: trial.threads)
    let logs = logs
    subscriptions = [
      hub.subscribe { [unowned self] event in
        logs[0].receive(event)
        react(to: event)
      },
      hub.subscribe { logs[1].receive($0) },
      hub.subscribe(on: .global()) { logs[2].receive($0) },
      hub.subscribe(with: logs[4], on: .sender) { $0.receive($1) },
    ]
    let sequence = hub.events()
    Task { for await event in sequence { logs[3].receive(event) } }
  }

  /// Sends an event of its own from time to time, in the handler of the first subscriber.
  private func react(to event: Event) {
    guard event.sender < trial.threads, event.number.isMultiple(of: 4) else { return }
    reactions += 1
    hub.send(Event(sender: trial.threads, number: reactions))
  }

  func work(_ worker: inout Worker) {
    var guest: EventSubscription?
    for number in 1...operations {
      worker.begin("send")
      hub.send(Event(sender: worker.index, number: number))
      guard worker.once(in: 8) else { continue }
      if let leaving = guest.take() {
        worker.begin("cancelAndWait")
        trial.expect(leaving.cancelAndWait(timeout: .seconds(3600)), "cancelAndWait gave up")
      } else {
        worker.begin("subscribe")
        let log = OrderLog()
        guest =
          worker.once(in: 2)
          ? hub.subscribe { log.receive($0) }
          : hub.subscribe(with: log, on: .sender) { $0.receive($1) }
        guests[worker.index].append(log)
      }
    }
    worker.begin("cancelAndWait")
    trial.expect(
      guest?.cancelAndWait(timeout: .seconds(3600)) ?? true, "cancelAndWait gave up")
  }

  func check() {
    // The threads have sent everything; only queues and tasks still deliver.
    var history = OrderHistory()
    history.sent = Array(repeating: operations, count: trial.threads) + [reactions]
    let total = history.sent.reduce(0, +)
    for log in logs { trial.wait(for: "events did not come") { log.count >= total } }
    guard logs.allSatisfy({ $0.count == total }) else {
      return trial.fail("\(logs.map(\.count)) events came, and \(total) were sent")
    }
    hub.finish()
    subscriptions = []
    history.full = logs.map(\.events)
    history.partial = guests.all.joined().map(\.events)
    if let violation = history.violation() { trial.fail(violation) }
  }
}
