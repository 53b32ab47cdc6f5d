internal import Synchronization

/// The mailbox of an asynchronous sequence.
///
///     sender ──▶ waiting ──take──▶ batch ──▶ iterator
///                          `taken` at once   `returned` of them
///
/// A task takes a batch when everything of the one before was returned. If nothing waits, it yields
/// once if it `mayLinger`, and then sleeps until a sender wakes it. It also yields when its
/// `budget` of results is spent.
///
/// ## Thread safety
/// Any thread may send. Only the isolation that iterates may take; several tasks of one actor may
/// take and sleep alternately, and each event goes to one of them.
final class StreamMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `sleeper`, `moreSleepers` and `isInterrupted` are accessed inside `withLock` alone;
  // other variables, unless they synchronize themselves, by the isolation that iterates.
  //
  // SAFETY, of unchecked exclusivity: for the same reason no two accesses overlap, and none of them
  // runs other code.

  typealias Item = MailboxState.Item

  /// A task that sleeps until it may find an event.
  @exclusivity(unchecked) private var sleeper: UnsafeContinuation<Void, Never>?
  /// Further ones: tasks of one actor that share the iterator.
  @exclusivity(unchecked) private var moreSleepers: [UnsafeContinuation<Void, Never>] = []
  /// Whether a task was cancelled while it slept, or before.
  @exclusivity(unchecked) private var isInterrupted = false
  /// The number of the task that received an event last, or zero: it handles the event until it
  /// requests the next one. Not its address, which another task may get after its end.
  // Relaxed: a task compares it with its own, and finds what itself has stored.
  private let handlingTask = Atomic<UInt64>(0)
  /// Whether the subscription was cancelled before it finished, or a task that iterates was
  /// cancelled: what was taken or read and not returned is discarded too.
  // Relaxed: nothing is read because of it. An iterator that is asked after the cancellation finds
  // it.
  private let hasBeenCancelled = Atomic(false)
  /// The most events that a task takes at once. What it has taken is not dropped any more, and not
  /// replaced: at most 64 events, if there is a limit or a key.
  private let batchLimit: Int
  /// The events taken and not yet returned.
  @exclusivity(unchecked) private var batch = ItemBuffer()
  /// How many of the latest batch were returned.
  private let returned = BatchCount()
  /// The size of the latest batch.
  @exclusivity(unchecked) private var taken = 0
  /// The number of results that may follow before the task must yield.
  @exclusivity(unchecked) private var budget = StreamMailbox.resultsPerYield
  /// Whether the subscription had ended, and everything was returned, at a request.
  @exclusivity(unchecked) private(set) var wasExhausted = false
  /// Whether a result was requested.
  @exclusivity(unchecked) private var hasStarted = false

  /// Whether the consumer yields once before it sleeps: several events came at once since it last
  /// did, so more may be about to come.
  @exclusivity(unchecked) private var mayLinger = false

  /// The most results without a suspension.
  private static var resultsPerYield: Int { 64 }

  /// - Parameter coalesces: whether new events replace those that wait.
  init(limit: Int, whenFull: OverflowPolicy, coalesces: Bool, drops: DropCounter?) {
    batchLimit = limit == .max && !coalesces ? .max : min(64, limit)
    super.init(MailboxState(limit: limit, whenFull: whenFull, isIdle: false), drops: drops)
  }

  /// A mailbox that has finished, without events.
  static func finished() -> StreamMailbox {
    let mailbox = StreamMailbox(limit: 1, whenFull: .dropNewest, coalesces: false, drops: nil)
    var discarded = ItemBuffer()
    _ = mailbox.withLock { mailbox.state.close(.finished, discarded: &discarded) }
    return mailbox
  }

  /// Resumes all sleepers: the first to run takes the event, and the others sleep again.
  override func wake(_ entry: Entry) {
    resume(withLock { takeSleepers() })
  }

  /// Tells the consumer of a mailbox without an entry to read, unless an element that does so waits
  /// already.
  func signal() {
    if offerSignal() == .acceptedByIdle { resume(withLock { takeSleepers() }) }
  }

  /// Ends a mailbox without an entry. If it has finished, the consumer reads once more.
  func end(_ reason: SubscriptionEnd) {
    if reason == .cancelled { recordCancellation() }
    var discarded = ItemBuffer()
    let (effects, sleepers) = withLock {
      forgetSignal()
      if reason == .finished { _ = state.signal() }
      return (state.close(reason, discarded: &discarded), takeSleepers())
    }
    resume(sleepers)
    finish(effects)
    // `discarded` has signals only.
  }

  override var place: String { "consumer" }

  override func cancel(_ entry: Entry) {
    recordCancellation()
    withLock { state.isAbandoned = true }
    super.cancel(entry)
  }

  /// Does nothing if the subscription has finished: then the consumer ends it once it has found
  /// nothing more, and a task that shares the iterator may not have returned everything.
  ///
  /// - Parameter isOfTask: whether a task that iterates is cancelled. That ends the iteration of
  ///   all tasks, also after the end of the hub: none of them may go on behind what this one
  ///   discards.
  func recordCancellation(isOfTask: Bool = false) {
    if isOfTask || end != .finished { hasBeenCancelled.store(true, ordering: .relaxed) }
  }

  override var isCalledByCurrentTask: Bool {
    let current = TaskIdentity.currentNumber
    return current != 0 && handlingTask.load(ordering: .relaxed) == current
  }

  override var statistics: DeliveryStatistics {
    withLock {
      var statistics = state.statistics
      statistics.delivered += returned.value
      return statistics
    }
  }
}

// MARK: - Taking

extension StreamMailbox {
  /// Whether the task may continue without a suspension.
  var hasBudget: Bool { budget > 0 }

  /// Called after a suspension.
  func renewBudget() { budget = Self.resultsPerYield }

  /// Whether no result was requested before this call.
  func isFirstRequest() -> Bool {
    defer { hasStarted = true }
    return !hasStarted
  }

  /// Whether the consumer yields before it sleeps, which is cheaper than to sleep and be woken.
  func takeLinger() -> Bool {
    defer { mayLinger = false }
    return mayLinger
  }

  /// Called after `count` events were read elsewhere.
  func recordRead(_ count: Int) {
    if count > 1 { mayLinger = true }
  }

  /// Counts a result that is not an event: a number of dropped events, the end, or that the time of
  /// a wait is over.
  func spendBudget() { budget -= 1 }

  /// Whether events were taken and not yet returned.
  var hasTaken: Bool { !batch.isEmpty }

  /// See `hasBeenCancelled`.
  var isCancelled: Bool { hasBeenCancelled.load(ordering: .relaxed) }

  /// The current task receives an event, and handles it until it requests the next one.
  func recordHandling() { handlingTask.store(TaskIdentity.currentNumber, ordering: .relaxed) }

  /// The next of the events that were taken, within the budget.
  func nextTaken() -> Item? {
    guard budget > 0, let item = batch.popFirst() else { return nil }
    budget -= 1
    recordHandling()
    returned.add(1)
    return item
  }

  var takenCount: Int { batch.count }

  /// Returns all events that were taken: see ``EventConsumer/moveTaken(drops:events:)``.
  func moveTaken(_ drops: (Int) -> Void, _ events: (Envelope, Int) -> Void) {
    guard !batch.isEmpty else { return }
    budget -= 1
    // The closures may destroy events, whose `deinit` may do anything, so they get none of `batch`.
    var moved = ItemBuffer()
    swap(&moved, &batch)
    recordHandling()
    returned.add(moved.count)
    var offset = 0
    while let item = moved.popFirst() {
      if item.dropped > 0 { drops(item.dropped) }
      events(item.element, offset)
      offset += 1
    }
    // Its memory serves again.
    if batch.isEmpty { swap(&moved, &batch) }
  }

  /// The number of events dropped before the next one that was taken; reported once.
  func takeDropped() -> Int {
    batch.takeDroppedBeforeFirst()
  }

  /// What a request has found.
  enum Found {
    /// Events, which were taken.
    case events
    /// Nothing now.
    case nothing
    /// Nothing, and nothing will come: the subscription has ended, or a task was cancelled.
    case end
  }

  /// Takes events that wait, after all events taken before were returned.
  ///
  /// - Parameter most: the most events to take, if they are returned at once; `nil`: `batchLimit`.
  func takeMore(_ most: Int? = nil) -> Found {
    let share = most ?? batchLimit
    // `wake` in the effects needs no action: the consumer is running.
    var finished: MailboxState.Effects?
    var more: MailboxState.Effects?
    let found = withLock { () -> Found in
      forgetSignal()
      (_, finished) = state.endBatch(delivered: returned.take())
      more = state.beginBatch(share, into: &batch)
      // No sender has to wake a consumer that does not sleep.
      if sleeper == nil { state.idleConsumers = 0 }
      if !batch.isEmpty { return .events }
      wasExhausted = wasExhausted || state.isExhausted
      return wasExhausted || isInterrupted ? .end : .nothing
    }
    taken = batch.count
    if taken > 1 { mayLinger = true }
    if let finished { finish(finished) }
    if let more { finish(more) }
    return found
  }

  /// Discards what was taken and not returned, at the end of the iteration.
  func discardTaken() {
    guard taken > 0 else { return }
    let finished = withLock { state.finishTaken(delivered: returned.take()) }
    taken = 0
    var discarded = ItemBuffer()
    swap(&discarded, &batch)
    finish(finished)
    // `discarded` is destroyed here, when nothing accesses `batch`.
  }

  func takeDroppedAtEnd() -> Int {
    withLock { state.takeDroppedAtEnd() }
  }
}

// MARK: - Sleeping

extension StreamMailbox {
  private typealias Sleeper = UnsafeContinuation<Void, Never>

  /// Inside the lock.
  private func takeSleepers() -> (first: Sleeper?, others: [Sleeper]?) {
    let first = sleeper
    sleeper = nil
    guard !moreSleepers.isEmpty else { return (first, nil) }
    defer { moreSleepers = [] }
    return (first, moreSleepers)
  }

  private func resume(_ sleepers: (first: Sleeper?, others: [Sleeper]?)) {
    sleepers.first?.resume()
    guard let others = sleepers.others else { return }
    for sleeper in others { sleeper.resume() }
  }

  /// Resumes all sleepers for good, because a task is cancelled. Runs no user code.
  func interrupt() {
    // First: no other task takes an event that comes before the cancelled one runs.
    recordCancellation(isOfTask: true)
    let sleepers = withLock {
      isInterrupted = true
      return takeSleepers()
    }
    resume(sleepers)
  }

  /// The time of `timer` is over: resumes all sleepers, to find out which of them it concerns.
  func expire(_ timer: SleepTimer) {
    let sleepers = withLock {
      timer.hasExpired = true
      return takeSleepers()
    }
    resume(sleepers)
  }

  /// Whether the time of `timer` is over, and there is neither an event nor an end to return.
  func isIdle(after timer: SleepTimer) -> Bool {
    !hasTaken && withLock { timer.hasExpired && !state.hasWaiting && state.end == nil }
  }

  /// Sleeps until an event may wait, no more will come, a task is cancelled, or the time of `timer`
  /// is over.
  ///
  /// A task that prefers a task executor may leave the actor before it sleeps. Another task of the
  /// actor may take all events there, and return one: then this one does not sleep either.
  ///
  /// - Parameter mustContinue: whether the iterator has something to return that is not in the
  ///   mailbox.
  @inline(__always)
  func sleep(_ timer: SleepTimer?, unless mustContinue: () -> Bool) async {
    timer?.start()
    // SAFETY: resumed once: here, or by the thread that takes it out under the lock.
    await suspendUnchecked { continuation in
      if hasTaken || mustContinue() { return continuation.resume() }
      let isAwake = withLock {
        guard !isInterrupted, timer?.hasExpired != true, state.sleep() else { return true }
        if sleeper == nil { sleeper = continuation } else { moreSleepers.append(continuation) }
        return false
      }
      if isAwake { continuation.resume() }
    }
  }
}
