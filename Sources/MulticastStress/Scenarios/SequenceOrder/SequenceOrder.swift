import ConcurrencyStress
import Multicast
import Synchronization

/// Every thread sends numbers of its own, and now and then registers a delegate for a while.
enum SequenceOrder: Scenario {
  static let name = "sequence"
  static let promise =
    "each delegate gets each sender's numbers one after the other, without a gap while registered"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      SequenceRound(trial, operations: 16 << Int.random(in: 0..<6, using: &generator))
    }
  }
}

/// A delegate that receives numbers from several senders.
protocol SequenceReceiving: AnyObject, Sendable {
  func receive(_ number: Int, from sender: Int)
}

/// A delegate that records what it has received from each sender.
final class SequenceTarget: Target, SequenceReceiving, @unchecked Sendable {
  // Sendable: as for the superclass.
  private let runs: PerThread<ReceivedRun>

  init(_ id: Int, _ lifetimes: LifetimeTracker, senders: Int) {
    runs = PerThread(repeating: ReceivedRun(), threads: senders)
    super.init(id, lifetimes)
  }

  func receive(_ number: Int, from sender: Int) {
    noteCall()
    runs[sender].receive(number)
  }

  func run(of sender: Int) -> ReceivedRun { runs[sender] }
}

/// The progress of one sender, which all threads read.
private final class SenderProgress: Sendable {
  // Sequentially consistent: a thread sees that a number was begun before its invocation reads.
  private let begun = Atomic<Int>(0)
  private let completed = Atomic<Int>(0)

  func begin(_ number: Int) { begun.store(number, ordering: .sequentiallyConsistent) }
  func complete(_ number: Int) { completed.store(number, ordering: .sequentiallyConsistent) }
  var begunNow: Int { begun.load(ordering: .sequentiallyConsistent) }
  var completedNow: Int { completed.load(ordering: .sequentiallyConsistent) }
}

/// One hub, and what was sent through it.
private final class SequenceRound: ScenarioRound {
  private let trial: Trial
  private let operations: Int
  private let hub: MulticastDelegate<any SequenceReceiving>
  private let senders: [SenderProgress]
  private let residents: [SequenceTarget]
  private let guests: PerThread<[Guest]>

  /// A delegate that was registered for a while, with the progress of each sender.
  private struct Guest {
    let target: SequenceTarget
    let registration: Registration<any SequenceReceiving>
    var added: [ReceivedRun.Progress]
    var removed: [ReceivedRun.Progress] = []
  }

  init(_ trial: Trial, operations: Int) {
    self.trial = trial
    self.operations = operations
    let hub = MulticastDelegate<any SequenceReceiving>(storage: trial.storage)
    self.hub = hub
    senders = (0..<trial.threads).map { _ in SenderProgress() }
    residents = (0..<max(1, trial.delegates / 4)).map {
      SequenceTarget($0, trial.lifetimes, senders: trial.threads)
    }
    for resident in residents { hub.add(resident) }
    guests = PerThread(repeating: [], threads: trial.threads)
  }

  func work(_ worker: inout Worker) {
    let me = senders[worker.index]
    let sender = worker.index
    var number = 0
    var isRegistered = false
    for _ in 0..<operations {
      if worker.once(in: 8) {
        isRegistered ? removeGuest(&worker) : addGuest(&worker)
        isRegistered.toggle()
      } else {
        number += 1
        let number = number
        me.begin(number)
        worker.begin("send")
        if worker.once(in: 2) {
          hub.forEach { $0.receive(number, from: sender) }
        } else {
          hub.invoke { $0.receive(number, from: sender) }
        }
        me.complete(number)
      }
    }
    if isRegistered { removeGuest(&worker) }
  }

  private func addGuest(_ worker: inout Worker) {
    worker.begin("add")
    let target = SequenceTarget(-1, trial.lifetimes, senders: senders.count)
    var progress = senders.map { ReceivedRun.Progress(completed: $0.completedNow) }
    let registration = hub.add(target, ownership: worker.once(in: 2) ? .strong : .weak)
    for (index, sender) in senders.enumerated() { progress[index].begun = sender.begunNow }
    guests[worker.index].append(Guest(target: target, registration: registration, added: progress))
  }

  private func removeGuest(_ worker: inout Worker) {
    worker.begin("remove")
    let last = guests[worker.index].count - 1
    let guest = guests[worker.index][last]
    var progress = senders.map { ReceivedRun.Progress(completed: $0.completedNow) }
    if worker.once(in: 4) {
      trial.expect(
        guest.registration.cancelAndWait(timeout: .seconds(3600)), "cancelAndWait gave up")
    } else if worker.once(in: 2) {
      hub.remove(guest.target)
    } else {
      guest.registration.cancel()
    }
    for (index, sender) in senders.enumerated() { progress[index].begun = sender.begunNow }
    guests[worker.index][last].removed = progress
  }

  func check() {
    for (sender, progress) in senders.enumerated() {
      let sent = progress.begunNow
      for resident in residents {
        let run = resident.run(of: sender)
        let all = ReceivedRun.Progress(begun: sent, completed: sent)
        report(run.violation(added: .init(), removed: all), "a resident", sender)
      }
      for guest in guests.all.joined() {
        let run = guest.target.run(of: sender)
        report(
          run.violation(added: guest.added[sender], removed: guest.removed[sender]), "a guest",
          sender)
      }
    }
    trial.expect(hub.count == residents.count, "\(hub.count) delegates are left in the hub")
  }

  private func report(_ violation: String?, _ who: String, _ sender: Int) {
    if let violation { trial.fail("\(who) of sender \(sender): \(violation)") }
  }
}
