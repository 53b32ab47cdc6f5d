// Delivery on actors.
//
//     sender ──▶ mailbox ─┐
//     sender ──▶ mailbox ─┼──▶ lane of the actor ──▶ one job on the actor ──▶ drains the mailboxes
//     sender ──▶ mailbox ─┘
//
// A sender that appends to an idle mailbox leaves the mailbox to the lane of its actor. The lane
// enqueues one job on the actor, which drains every mailbox that arrives until none is left. So a
// burst wakes the actor once, however many handlers it has, and the job calls them without a switch
// of executors. After 100 microseconds, but at least 64 calls, the job makes room for other jobs of
// the actor.
//
// Ownership: a mailbox owns its lane. Neither owns the actor, which may be the one that holds the
// subscription. What waits in the lane, and a job, own the entries; a job also owns the actor.

/// The mailboxes with elements for one actor, and the job on the actor that drains them.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ActorLane: @unchecked Sendable {
  // Sendable: `waiting` and `role` are used only inside `lock`, `batch` only by the job, which has
  // the role; the rest never changes.

  /// The number of calls after which a job checks how long it has run.
  private static var callsPerCheck: Int { 64 }
  /// The time after which a job ends, so that other work of the actor runs. A job costs about a
  /// microsecond, so a hundred times that makes it cheap.
  private static var jobTime: Duration { .microseconds(100) }

  /// A mailbox, and its entry with a retain.
  private typealias Pending = (mailbox: Unmanaged<ActorMailbox>, entry: Unmanaged<Entry>)

  private let reference: WeakActor
  private let identifier: ObjectIdentifier
  /// Guards `waiting` and `role`. No user code runs inside.
  private let lock = Lock()
  private var waiting = RingBuffer<Pending>()
  /// The role of draining what waits.
  private var role = ExclusiveRole()
  private var batch = RingBuffer<Pending>()

  fileprivate init(_ home: any Actor) {
    reference = WeakActor(home)
    identifier = ObjectIdentifier(home)
  }

  deinit {
    ActorLane.removeReference(identifier)
  }
}

extension ActorLane {
  /// See ``WeakActor/value``.
  var home: (any Actor)? { reference.value }

  /// The type of the actor.
  var description: String { home.map { "\(type(of: $0))" } ?? "an actor" }

  /// Whether this is the lane of `home`, which the caller keeps alive.
  func isOf(_ home: any Actor) -> Bool {
    identifier == ObjectIdentifier(home) && !reference.isStale
  }

  /// Drains `mailbox` on the actor, in the running job or in a new one.
  ///
  /// If the actor is gone, ends the registration of `entry` instead.
  func drain(_ mailbox: ActorMailbox, _ entry: Entry) {
    let mustStart = lock.withLock {
      waiting.append((.passUnretained(mailbox), .passRetained(entry)))
      return role.take()
    }
    guard mustStart else { return }
    if let home { start(on: home) } else { endAll() }
  }

  /// Enqueues a job on `home`.
  private func start(on home: any Actor) {
    // A task of its own, and not a child or a `Task`: it must not inherit the task-locals and the
    // priority of the sender that found the lane idle.
    Task.detached(operation: makeActorJob(on: home) { [self] home in run(on: home) })
  }

  /// Drains what waits, until nothing does or the time of a job has passed.
  private func run(on home: isolated any Actor) {
    var budget = Self.callsPerCheck
    let end = ContinuousClock.now.advanced(by: Self.jobTime)
    while true {
      if budget == 0 {
        guard ContinuousClock.now < end else { break }
        budget = Self.callsPerCheck
      }
      guard let next = takeNext() else { return }
      // SAFETY: the entry keeps its mailbox.
      let isDone = next.mailbox._withUnsafeGuaranteedRef { mailbox in
        next.entry._withUnsafeGuaranteedRef { !mailbox.drain($0, budget: &budget) }
      }
      // If this is the last reference, the `deinit` of a delegate runs here, on its actor.
      if isDone { next.entry.release() } else { lock.withLock { waiting.append(next) } }
    }
    start(on: home)
  }

  /// Ends the registrations of the entries that wait, because the actor is gone.
  private func endAll() {
    while let next = takeNext() {
      let entry = next.entry.takeRetainedValue()
      // SAFETY: the entry keeps its mailbox.
      next.mailbox._withUnsafeGuaranteedRef { $0.end(entry) }
    }
  }

  /// The next mailbox to drain; `nil` if none is left, and then the caller has lost the role.
  private func takeNext() -> Pending? {
    if let next = batch.popFirst() { return next }
    let isLeft = lock.withLock {
      swap(&waiting, &batch)
      return role.keep(if: !batch.isEmpty)
    }
    return isLeft ? batch.popFirst() : nil
  }
}

// MARK: - The lanes of all actors

extension ActorLane {
  private struct Reference {
    weak var lane: ActorLane?
  }

  /// The lanes in use, by actor.
  private final class Table: @unchecked Sendable {
    // Sendable: `lanes` is used only inside `lock`.

    /// Guards `lanes`. Lanes, hence actors, are released outside.
    let lock = Lock()
    var lanes: [ObjectIdentifier: Reference] = [:]
  }

  private static let table = Table()

  /// The lane of `home`, which all registrations for that actor share.
  static func lane(of home: any Actor) -> ActorLane {
    let identifier = ObjectIdentifier(home)
    let existing = table.lock.withLock { table.lanes[identifier]?.lane }
    if let existing, !existing.reference.isStale { return existing }
    let new = ActorLane(home)
    let concurrent = table.lock.withLock { () -> ActorLane? in
      if let concurrent = table.lanes[identifier]?.lane, concurrent !== existing {
        return concurrent
      }
      table.lanes[identifier] = Reference(lane: new)
      return nil
    }
    return concurrent ?? new
  }

  /// Removes the table's reference to a released lane, unless there is a new one.
  private static func removeReference(_ identifier: ObjectIdentifier) {
    let lane = table.lock.withLock { () -> ActorLane? in
      let lane = table.lanes[identifier]?.lane
      if lane == nil { table.lanes[identifier] = nil }
      return lane
    }
    withExtendedLifetime(lane) {}  // Released here, outside the lock.
  }
}
