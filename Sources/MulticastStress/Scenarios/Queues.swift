import ConcurrencyStress
import Dispatch
import Multicast

/// Every thread sends numbers to delegates on serial, concurrent, global and suspended queues, on
/// the main queue, and on actors; some delegates are registered only for a while.
enum Queues: Scenario {
  static let name = "queues"
  static let promise =
    "on a queue or an actor, a delegate's calls come one at a time, in each sender's order, and only "
    + "while it is registered"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      QueuesRound(trial, operations: 4 << Int.random(in: 0..<5, using: &generator))
    }
  }
}

/// A delegate that records overlapping calls.
private final class QueueTarget: Target, @unchecked Sendable {
  // Sendable: as for the superclass. `runs` is accessed by the calls for this delegate, which the
  // library promises to serialize (the thread sanitizer checks that), and when all are done.
  private let runs: PerThread<ReceivedRun>
  private let inside = Counter()
  private let overlaps = Counter()

  init(_ lifetimes: LifetimeTracker, senders: Int) {
    runs = PerThread(repeating: ReceivedRun(), threads: senders)
    super.init(0, lifetimes)
  }

  func receive(_ number: Int, from sender: Int) {
    inside.add(1)
    if inside.value > 1 { overlaps.add(1) }
    noteCall()
    runs[sender].receive(number)
    inside.add(-1)
  }

  func run(of sender: Int) -> ReceivedRun { runs[sender] }
  var hadOverlaps: Bool { overlaps.value > 0 }
}

/// Where a delegate is called.
private enum Place {
  case queue(DispatchQueue)
  case actor(any Actor)
}

private actor Home {}

/// One hub, and its delegates on queues and actors.
private final class QueuesRound: ScenarioRound {
  private let trial: Trial
  private let operations: Int
  private let hub: MulticastDelegate<QueueTarget>
  private let sent: [Counter]
  private let places: [Place]
  /// Runs nothing before the threads are done.
  private let suspended = DispatchQueue(label: "suspended")
  private let residents: [(target: QueueTarget, registration: Registration<QueueTarget>)]
  private let guests: PerThread<[Guest]>

  /// A delegate that was registered for a while.
  private struct Guest {
    let target: QueueTarget
    let registration: Registration<QueueTarget>
    /// What each sender had completed before it was added, and begun when it had been added.
    var added: [ReceivedRun.Progress]
    /// What each sender had begun when it was removed.
    var removed: [Int] = []
    let isSuspended: Bool
  }

  init(_ trial: Trial, operations: Int) {
    self.trial = trial
    self.operations = operations
    let hub = MulticastDelegate<QueueTarget>(storage: trial.storage)
    self.hub = hub
    sent = (0..<trial.threads).map { _ in Counter() }
    places = [
      .queue(DispatchQueue(label: "serial")),
      .queue(DispatchQueue(label: "concurrent", attributes: .concurrent)),
      .queue(.global()), .queue(.main), .actor(MainActor.shared), .actor(Home()), .actor(Home()),
    ]
    suspended.suspend()
    residents = (places + [.queue(suspended)]).map { place in
      let target = QueueTarget(trial.lifetimes, senders: trial.threads)
      return (target, add(target, .weak, on: place, to: hub))
    }
    guests = PerThread(repeating: [], threads: trial.threads)
  }

  func work(_ worker: inout Worker) {
    var number = 0
    for _ in 0..<operations {
      if worker.once(in: 4) {
        addGuest(&worker)
      } else if worker.once(in: 4) {
        removeGuest(&worker)
      } else {
        worker.begin("invoke")
        number += 1
        let (number, sender) = (number, worker.index)
        sent[sender].add(1)  // Begun; at least one less is completed.
        let reached = hub.invoke { $0.receive(number, from: sender) }
        trial.expect(
          reached >= residents.count, "invoke reached \(reached) of \(residents.count) delegates")
      }
    }
    while guests[worker.index].contains(where: { $0.removed.isEmpty }) { removeGuest(&worker) }
  }

  private func addGuest(_ worker: inout Worker) {
    worker.begin("add")
    let target = QueueTarget(trial.lifetimes, senders: sent.count)
    let isSuspended = worker.once(in: 4)
    let place = isSuspended ? .queue(suspended) : places[worker.pick(places.count)]
    var progress = sent.map { ReceivedRun.Progress(completed: max(0, $0.value - 1)) }
    let registration = add(target, worker.once(in: 2) ? .strong : .weak, on: place, to: hub)
    for (index, sender) in sent.enumerated() { progress[index].begun = sender.value }
    guests[worker.index].append(
      Guest(
        target: target, registration: registration, added: progress, isSuspended: isSuspended))
  }

  private func removeGuest(_ worker: inout Worker) {
    let mine = worker.index
    guard let index = guests[mine].firstIndex(where: { $0.removed.isEmpty }) else { return }
    let guest = guests[mine][index]
    if worker.once(in: 2) {
      worker.begin("cancelAndWait")
      trial.expect(
        guest.registration.cancelAndWait(timeout: .seconds(3600)), "cancelAndWait gave up")
      guest.target.poison()
    } else {
      worker.begin("remove")
      trial.expect(hub.remove(guest.target), "remove did not find a delegate that is registered")
      // No call can have begun on a suspended queue.
      if guest.isSuspended { guest.target.poison() }
    }
    guests[mine][index].removed = sent.map(\.value)
  }

  func check() {
    checkDeliveries()
    for thread in 0..<sent.count { guests[thread] = [] }
    // What a place has run may outlive its last call by a moment.
    trial.wait(for: "the queues and actors did not release a delegate") {
      trial.lifetimes.live == residents.count
    }
  }

  private func checkDeliveries() {
    suspended.resume()
    trial.expect(
      hub.flush(timeout: .seconds(trial.patience)),
      "flush gave up waiting for the queues and actors")
    for guest in guests.all.joined() {
      // A call that had passed its check when the guest was removed may still be running.
      trial.expect(
        guest.registration.cancelAndWait(timeout: .seconds(trial.patience)),
        "a call for a delegate that was removed did not end")
    }
    for (sender, count) in sent.map(\.value).enumerated() {
      let all = ReceivedRun.Progress(begun: count, completed: count)
      for (target, _) in residents {
        let violation = target.run(of: sender).violation(added: .init(), removed: all)
        report(violation, "a resident", sender)
      }
      for guest in guests.all.joined() {
        // What waits at the time of the removal is discarded.
        let removed = ReceivedRun.Progress(begun: guest.removed[sender], completed: 0)
        let run = guest.target.run(of: sender)
        report(run.violation(added: guest.added[sender], removed: removed), "a guest", sender)
      }
    }
    for (target, registration) in residents {
      trial.expect(!target.hadOverlaps, "two calls of one delegate ran at once")
      let statistics = registration.statistics
      let total = sent.reduce(0) { $0 + $1.value }
      trial.expect(
        statistics?.enqueued == total && statistics?.delivered == total,
        "the statistics do not say that \(total) calls were enqueued and delivered")
    }
    trial.expect(hub.count == residents.count, "\(hub.count) delegates are left in the hub")
    for guest in guests.all.joined() {
      trial.expect(!guest.target.hadOverlaps, "two calls of one delegate ran at once")
    }
  }

  private func report(_ violation: String?, _ who: String, _ sender: Int) {
    if let violation { trial.fail("\(who), of sender \(sender): \(violation)") }
  }
}

private func add(
  _ target: QueueTarget, _ ownership: Ownership, on place: Place,
  to hub: MulticastDelegate<QueueTarget>
) -> Registration<QueueTarget> {
  switch place {
  case .queue(let queue): hub.add(target, ownership: ownership, on: queue)
  case .actor(let home): hub.add(target, ownership: ownership, on: home)
  }
}
