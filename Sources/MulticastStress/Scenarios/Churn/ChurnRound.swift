import ConcurrencyStress
import Foundation
import Multicast
import Synchronization

/// One hub, and what the threads do to it.
final class ChurnRound: ScenarioRound {
  private let trial: Trial
  private let operations: Int
  private let mix: OperationMix
  private let hub: MulticastDelegate<Target>
  private let clock = LogicalClock()
  private let slots: [ChurnSlot]
  /// The invocations of each thread.
  private let journals: [ChurnJournal]
  // Relaxed: only the numbers matter.
  private let nextID = Atomic<Int>(0)

  init(_ trial: Trial, operations: Int) {
    self.trial = trial
    self.operations = operations
    mix = trial.mix
    hub = MulticastDelegate(storage: trial.storage)
    slots = (0..<trial.delegates).map { _ in ChurnSlot() }
    journals = (0..<trial.threads).map { _ in ChurnJournal() }
  }

  func work(_ worker: inout Worker) {
    for _ in 0..<operations {
      switch mix.pick(&worker.generator) {
      case .add: add(&worker)
      case .remove: remove(&worker)
      case .invoke: invoke(&worker)
      case .release: release(&worker)
      }
    }
  }

  func check() {
    if let violation = violation() { trial.fail(violation) }
  }

  /// What must not have happened, if anything.
  private func violation() -> String? {
    var history = ChurnHistory()
    history.invocations = journals.flatMap(\.invocations)
    var records: [Int: ChurnHistory.Registration] = [:]
    var registered: [Int] = []
    for slot in slots {
      for record in slot.records {
        records[record.id] = record.registration
        records[record.id]!.died = record.life.died.load(ordering: .relaxed)
      }
      if slot.registration != nil { registered.append(slot.records.last!.id) }
    }
    history.registrations = (0..<records.count).map { records[$0]! }
    if let violation = history.violation() { return violation }
    let delegates = hub.delegates.map(\.id)
    guard Set(delegates) == Set(registered), delegates.count == registered.count else {
      return "\(delegates) are registered at the end, and not \(registered.sorted())"
    }
    return nil
  }
}

// MARK: - Operations

extension ChurnRound {
  private func add(_ worker: inout Worker) {
    withSlot(&worker) { slot, worker in
      guard slot.registration == nil else { return }
      worker.begin("add")
      let id = nextID.wrappingAdd(1, ordering: .relaxed).oldValue
      let life = ChurnTarget.Life()
      let target = ChurnTarget(id, trial.lifetimes, clock, life)
      slot.isStrong = worker.once(in: 3)
      var record = ChurnHistory.Registration(addBegan: clock.tick())
      slot.registration = hub.add(target, ownership: slot.isStrong ? .strong : .weak)
      record.addReturned = clock.tick()
      slot.target = target
      slot.records.append(.init(id: id, life: life, registration: record))
    }
  }

  private func remove(_ worker: inout Worker) {
    withSlot(&worker) { slot, worker in
      guard let registration = slot.registration else { return }
      let last = slot.records.count - 1
      let way = worker.pick(4)
      slot.records[last].registration.removeBegan = clock.tick()
      switch (way, slot.target) {
      case (0, let target?):
        worker.begin("remove")
        trial.expect(hub.remove(target), "remove did not find a delegate that is registered")
      case (1, _):
        worker.begin("cancelAndWait")
        trial.expect(
          registration.cancelAndWait(timeout: .seconds(3600)), "cancelAndWait gave up")
        slot.records[last].registration.waited = true
      default:
        worker.begin("cancel")
        registration.cancel()
      }
      slot.records[last].registration.removeReturned = clock.tick()
      trial.expect(!registration.isActive, "a registration is active after its end")
      slot.registration = nil
      slot.target = nil
    }
  }

  private func release(_ worker: inout Worker) {
    withSlot(&worker) { slot, worker in
      guard slot.target != nil else { return }
      worker.begin("release")
      if !slot.isStrong {
        slot.records[slot.records.count - 1].registration.releaseBegan = clock.tick()
        slot.registration = nil
      }
      slot.target = nil
    }
  }

  private func invoke(_ worker: inout Worker) {
    let journal = journals[worker.index]
    let takesTimes = worker.once(in: 2)
    let clock = clock
    journal.current = ChurnHistory.Invocation(began: clock.tick())
    switch worker.pick(4) {
    case 0:
      worker.begin("invoke")
      let returned = hub.invoke { journal.note($0, takesTimes, clock) }
      trial.expect(
        returned == journal.current.calls.count,
        "invoke returned a number other than that of its calls")
    case 1:
      worker.begin("results")
      let results = hub.results { target in
        journal.note(target, takesTimes, clock)
        return target.id
      }
      let ids = results.map { $0.get() }
      trial.expect(ids == journal.current.calls, "results returned other answers")
    default:
      worker.begin("forEach")
      hub.forEach { journal.note($0, takesTimes, clock) }
    }
    journal.current.ended = clock.tick()
    journal.invocations.append(journal.current)
  }

  /// Runs `body` with a random slot, unless another thread is using that.
  private func withSlot(_ worker: inout Worker, _ body: (ChurnSlot, inout Worker) -> Void) {
    let slot = slots[worker.pick(slots.count)]
    guard slot.lock.try() else { return }
    defer { slot.lock.unlock() }
    body(slot, &worker)
  }
}

/// A slot for one delegate at a time.
final class ChurnSlot: @unchecked Sendable {
  // Sendable: everything is touched while `lock` is held, or when all threads are done.
  let lock = NSLock()
  var target: ChurnTarget?
  /// The registration that has not ended.
  var registration: Registration<Target>?
  var isStrong = false
  var records: [Record] = []

  struct Record {
    let id: Int
    let life: ChurnTarget.Life
    var registration: ChurnHistory.Registration
  }
}

/// The invocations of one thread.
final class ChurnJournal: @unchecked Sendable {
  // Sendable: touched by its thread, and when all threads are done.
  var invocations: [ChurnHistory.Invocation] = []
  var current = ChurnHistory.Invocation()

  func note(_ target: Target, _ takesTimes: Bool, _ clock: LogicalClock) {
    target.noteCall()
    current.calls.append(target.id)
    if takesTimes { current.times.append(clock.tick()) }
  }
}
