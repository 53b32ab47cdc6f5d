// Delivery on actors.
//
//     sender ──▶ mailbox ─┐
//     sender ──▶ mailbox ─┼──▶ run queue of the actor ──▶ one job on the actor ──▶ drains the
//     sender ──▶ mailbox ─┘                                                        mailboxes
//
// A sender that appends to an idle mailbox puts the mailbox into the run queue of its actor. The
// run queue enqueues one job on the actor, which drains every mailbox that arrives until none is
// left. So a burst wakes the actor once, however many handlers it has, and the job calls them
// without a switch of executors. After 100 microseconds, but at least 64 calls, the job ends, and
// enqueues another one behind other jobs of the actor. Before it ends because nothing is left, it
// polls for two microseconds: a sender that comes in that time need not enqueue another job, which
// costs as much.
//
// The mailboxes of a run queue share its lock. So a sender appends to many of them in one critical
// section, and the job ends one drain and begins the next in one.
//
// Ownership: a mailbox owns its run queue. Neither owns the actor, which may be the one that holds
// the subscription. What waits in the run queue, and a job, own the entries; a job also owns the
// actor.

internal import CMulticast
internal import Synchronization

/// The mailboxes with elements for one actor, and the job on the actor that drains them.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ActorRunQueue: ActorJob, @unchecked Sendable {
  // Sendable: `waiting` and `role` are used only inside `lock`, `batch`, `pollPause` and
  // `lastPollPause` only by the job, which has the role; the rest is atomic or never changes. So an
  // access is exclusive, and is not checked: no user code runs in one.

  /// The number of calls after which a job checks how long it has run.
  private static var callsPerCheck: Int { 64 }
  /// The time after which a job ends, so that other work of the actor runs. A job costs about a
  /// microsecond, so a hundred times that makes it cheap.
  private static var jobTime: Duration { .microseconds(100) }

  /// How long a job polls before it ends: about as long as it takes to enqueue another one.
  private static var pollTime: Duration { .microseconds(2) }
  /// How many times at most a job does not poll after it has polled in vain.
  private static var mostPollsSkipped: Int { 64 }

  /// A mailbox, and its entry with a retain.
  private typealias Pending = (mailbox: Unmanaged<ActorMailbox>, entry: Unmanaged<Entry>)

  private let reference: WeakActor
  private let identifier: ObjectIdentifier
  /// The tasks that its jobs use; `nil`: each job needs one of its own.
  private let tasks: ParkedTasks?
  /// Guards `waiting` and `role`, and the states of the mailboxes. No user code runs inside.
  let lock = Lock()
  @exclusivity(unchecked) private var waiting = RingBuffer<Pending>()
  /// The role of draining what waits.
  @exclusivity(unchecked) private var role = ExclusiveRole()
  @exclusivity(unchecked) private var batch = RingBuffer<Pending>()
  /// Whether a mailbox may wait: a hint for the job that polls.
  // Relaxed: nothing is read because of it before the lock is taken.
  private let mayHaveWaiting = Atomic(false)
  /// How many more times the job does not poll, because it last polled in vain.
  @exclusivity(unchecked) private var pollPause = 0
  /// The last such number: doubled by each poll in vain.
  @exclusivity(unchecked) private var lastPollPause = 0

  fileprivate init(_ home: any Actor) {
    reference = WeakActor(home)
    identifier = ObjectIdentifier(home)
    tasks = ParkedTasks.tasks(for: home)
  }

  deinit {
    ActorRunQueue.removeReference(identifier)
  }
}

extension ActorRunQueue {
  /// See ``WeakActor/value``.
  var home: (any Actor)? { reference.value }

  /// The type of the actor.
  var description: String { home.map { "\(type(of: $0))" } ?? "an actor" }

  /// Whether this is the run queue of `home`, which the caller keeps alive.
  func isOf(_ home: any Actor) -> Bool {
    identifier == ObjectIdentifier(home) && !reference.isStale
  }

  /// Drains `mailbox` on the actor, in the running job or in a new one.
  ///
  /// If the actor is gone, ends the registration of `entry` instead.
  func drain(_ mailbox: ActorMailbox, _ entry: Entry) {
    let mustStart = lock.withLock {
      add(.passUnretained(mailbox), .passUnretained(entry))
      return role.take()
    }
    if mustStart { start() }
  }

  /// Appends `envelope` to the mailboxes of `entries`, which are all of this run queue.
  ///
  /// - Parameter entries: held by the caller. Its memory is used for those that decline.
  /// - Returns: the number of mailboxes in which it waits now.
  func append(_ envelope: Envelope, to entries: UnsafeMutableBufferPointer<Unmanaged<Entry>>) -> Int
  {
    // One operation on the count makes the retains for all mailboxes.
    let element = envelope.retained(times: entries.count)
    let (accepted, declined, mustStart) = lock.withLockAfterPolling {
      var accepted = 0
      var declined = 0
      var isAnyIdle = false
      for entry in entries {
        // SAFETY: the caller holds the entry, which keeps its mailbox: that of an actor, because
        // only such a mailbox has a run queue.
        let mailbox = entry.head.pointee.mailbox.unsafelyUnwrapped
        let offer = mailbox._withUnsafeGuaranteedRef { $0.state.offer(taking: element) }
        switch offer {
        case .accepted: accepted += 1
        case .acceptedByIdle:
          accepted += 1
          isAnyIdle = true
          add(.fromOpaque(mailbox.toOpaque()), entry)
        case .declined:
          entries[declined] = entry
          declined += 1
        }
      }
      return (accepted, declined, isAnyIdle && role.take())
    }
    if mustStart { start() }
    return entries[..<declined].reduce(accepted) { accepted, entry in
      // SAFETY: the caller holds the entry.
      let entry = entry.takeUnretainedValue()
      element.release()  // It did not take its retain.
      return accepted + (entry.mailbox?.enqueueDeclined(envelope, for: entry) == true ? 1 : 0)
    }
  }

  /// Adds a mailbox to those that wait. Inside `lock`.
  private func add(_ mailbox: Unmanaged<ActorMailbox>, _ entry: Unmanaged<Entry>) {
    waiting.append((mailbox, entry.retain()))
    mayHaveWaiting.store(true, ordering: .relaxed)
  }

  /// Starts a job on the actor, or ends the registrations if that is gone.
  private func start() {
    if let home { start(on: home, tasks) } else { endAll() }
  }

  /// A mailbox whose elements were taken, to be delivered.
  private struct Drain {
    var pending: Pending
    var count: Int
    var effects: MailboxState.Effects?
  }

  /// What a job does next.
  private enum Step {
    case drain(Drain)
    /// Nothing is left, but the job has not given up the role.
    case poll
    /// The job ends, and enqueues another one behind other jobs of the actor.
    case restart
    /// Nothing is left, and the job has given up the role.
    case end
  }

  /// Drains what waits, until nothing does or the time of a job has passed.
  func run(on home: isolated any Actor) {
    let kept = UnsafeRawPointer(Unmanaged.passUnretained(home as AnyObject).toOpaque())
    let thread = ThreadCallStack.first
    // The job may run inside of a handler that has received something: see `ParkedTasks`.
    let outer = thread.pointee.hasReceived
    defer { if outer { thread.pointee.hasReceived = true } }
    thread.pointee.hasReceived = false
    var budget = Budget(calls: Self.callsPerCheck)
    var step = lock.withLockAfterPolling { nextStep(budget.calls, mayPoll: true) }
    if case .drain(let drain) = step, drain.count > 1 { budget.start() }
    while true {
      switch step {
      case .drain(let drain):
        step = perform(drain, keeping: kept, &budget, on: thread)
        // The first one may have been a single call.
        if case .drain = step { budget.start() }
      case .poll:
        let mayPoll = poll()
        step = lock.withLockAfterPolling { nextStep(budget.calls, mayPoll: mayPoll) }
      case .restart: return start(on: home, tasks)
      case .end: return
      }
    }
  }

  /// What a job may still do.
  private struct Budget {
    /// Until the next check of the time.
    var calls: Int
    /// `nil`: the time of the job has not begun. If the first drain is a single call, which is not
    /// to wait for the clock, it begins with the second, or at the first check.
    private var end: ContinuousClock.Instant?

    init(calls: Int) {
      self.calls = calls
    }

    mutating func start() {
      if end == nil { end = .now.advanced(by: ActorRunQueue.jobTime) }
    }

    /// Subtracts calls that were made.
    ///
    /// - Returns: whether the job must end.
    mutating func spend(_ count: Int) -> Bool {
      calls -= count
      guard calls <= 0 else { return false }
      calls = ActorRunQueue.callsPerCheck
      guard let end else {
        start()
        return false
      }
      return ContinuousClock.now >= end
    }
  }

  /// Delivers what was taken, and takes what is next.
  private func perform(
    _ drain: Drain, keeping kept: UnsafeRawPointer, _ budget: inout Budget,
    on thread: ThreadCallStack.Pointer
  ) -> Step {
    let pending = drain.pending
    // SAFETY: the job has a retain of the entry, which keeps its mailbox.
    let (mustContinue, step) = pending.mailbox._withUnsafeGuaranteedRef { mailbox in
      pending.entry._withUnsafeGuaranteedRef { entry in
        if let effects = drain.effects { mailbox.finish(effects) }
        var delivered = mailbox.deliverTaken(to: entry, keeping: kept)
        let isOver = budget.spend(mailbox.progress?.calls ?? drain.count)
        let calls = budget.calls
        let (drained, step) = lock.withLockAfterPolling {
          let drained = mailbox.finishTaken(&delivered, for: entry)
          if drained.mustContinue { waiting.append(pending) }
          // What a handler has received, a flush by another one must not take for its own.
          if thread.pointee.hasReceived { return (drained, leave()) }
          return (drained, isOver ? .restart : nextStep(calls, mayPoll: true))
        }
        if let effects = drained.effects { mailbox.finish(effects) }
        delivered.destroyRest()  // Here, outside the lock.
        if drained.isExhausted { mailbox.whenExhausted?(entry) }
        return (drained.mustContinue, step)
      }
    }
    // If this is the last reference, the `deinit` of a delegate runs here, on its actor.
    if !mustContinue { pending.entry.release() }
    return step
  }

  /// Takes elements of the next mailbox; gives up the role if there is none. Inside `lock`.
  private func nextStep(_ budget: Int, mayPoll: Bool) -> Step {
    if batch.isEmpty {
      swap(&waiting, &batch)
      mayHaveWaiting.store(false, ordering: .relaxed)
    }
    guard let next = batch.popFirst() else {
      if mayPoll {
        if pollPause == 0 { return .poll }
        pollPause -= 1
      }
      _ = role.keep(if: false)
      return .end
    }
    // SAFETY: the entry keeps its mailbox.
    return next.mailbox._withUnsafeGuaranteedRef { mailbox in
      next.entry._withUnsafeGuaranteedRef { entry in
        let (effects, count) = mailbox.take(budget, for: entry)
        return .drain(Drain(pending: next, count: count, effects: effects))
      }
    }
  }

  /// Leaves what waits to another job, in another task. Inside `lock`.
  private func leave() -> Step {
    role.keep(if: !batch.isEmpty || !waiting.isEmpty) ? .restart : .end
  }

  /// Ends the registrations of the entries that wait, because the actor is gone.
  private func endAll() {
    while let next = takeNext() {
      let entry = next.entry.takeRetainedValue()
      // SAFETY: the entry keeps its mailbox.
      next.mailbox._withUnsafeGuaranteedRef { $0.end(entry) }
    }
  }

  /// The next mailbox that waits; `nil` if none is left, and then the caller has given up the role.
  private func takeNext() -> Pending? {
    if let next = batch.popFirst() { return next }
    let isLeft = lock.withLock {
      swap(&waiting, &batch)
      return role.keep(if: !batch.isEmpty)
    }
    return isLeft ? batch.popFirst() : nil
  }
}

// MARK: - Polling

extension ActorRunQueue {
  /// Waits for a mailbox for a short time.
  ///
  /// - Returns: whether one may have come.
  private func poll() -> Bool {
    if Self.isMultiprocessor {
      let end = ContinuousClock.now.advanced(by: Self.pollTime)
      repeat {
        if mayHaveWaiting.load(ordering: .relaxed) {
          lastPollPause = 0
          return true
        }
        cmulticast_spin_pause()
      } while ContinuousClock.now < end
    }
    lastPollPause = min(max(1, lastPollPause * 2), Self.mostPollsSkipped)
    pollPause = lastPollPause
    return false
  }

  /// Whether a sender can run while the job polls.
  private static let isMultiprocessor = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
}

// MARK: - The run queues of all actors

extension ActorRunQueue {
  /// A weak reference to a run queue, destroyed by hand. A `weak` one would make every retain of
  /// the run queue slower, and each job needs some.
  private struct Reference {
    private let reference: WeakReference

    init(runQueue: ActorRunQueue) { reference = WeakReference(runQueue) }

    /// The run queue, unless its deinitialisation has begun. If read inside the lock of the table,
    /// to be released outside.
    var runQueue: ActorRunQueue? {
      // SAFETY: it was created with a run queue.
      reference.promote().map { unsafeDowncast($0.takeRetainedValue(), to: ActorRunQueue.self) }
    }

    func destroy() { reference.destroy() }
  }

  /// The run queues in use, by actor.
  private final class Table: @unchecked Sendable {
    // Sendable: `runQueues` is used only inside `lock`.

    /// Guards `runQueues`. Run queues, hence actors, are released outside.
    let lock = Lock()
    var runQueues: [ObjectIdentifier: Reference] = [:]
  }

  private static let table = Table()

  /// The run queue of `home`, which all registrations for that actor share.
  static func runQueue(of home: any Actor) -> ActorRunQueue {
    let identifier = ObjectIdentifier(home)
    let existing = table.lock.withLock { table.runQueues[identifier]?.runQueue }
    if let existing, !existing.reference.isStale { return existing }
    let new = ActorRunQueue(home)
    let found = table.lock.withLock { () -> ActorRunQueue? in
      let found = table.runQueues[identifier]?.runQueue
      if found == nil || found === existing {
        table.runQueues.updateValue(Reference(runQueue: new), forKey: identifier)?.destroy()
      }
      return found  // Released outside: its `deinit` takes the lock.
    }
    guard let found, found !== existing else { return new }
    return found
  }

  /// Removes the table's reference to a released run queue, unless there is a new one.
  private static func removeReference(_ identifier: ObjectIdentifier) {
    let runQueue = table.lock.withLock { () -> ActorRunQueue? in
      let runQueue = table.runQueues[identifier]?.runQueue
      if runQueue == nil { table.runQueues.removeValue(forKey: identifier)?.destroy() }
      return runQueue
    }
    withExtendedLifetime(runQueue) {}  // Released here, outside the lock.
  }
}
