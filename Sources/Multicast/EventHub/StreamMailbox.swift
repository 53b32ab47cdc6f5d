internal import Synchronization

/// The mailbox of an asynchronous sequence.
///
/// ## Thread safety
/// Any thread may send. Only the isolation that iterates may take; several tasks of one actor may
/// take and sleep alternately, and each event goes to one of them.
final class StreamMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `sleeper`, `moreSleepers`, `isInterrupted` and `handlingTask` are accessed inside
  // `lock` alone; other variables, unless atomic, by the isolation that iterates.

  typealias Item = MailboxState.Item

  /// A task that sleeps until it may find an event.
  private var sleeper: UnsafeContinuation<Void, Never>?
  /// Further ones: tasks of one actor that share the iterator.
  private var moreSleepers: [UnsafeContinuation<Void, Never>] = []
  /// Whether a task was cancelled while it slept, or before.
  private var isInterrupted = false
  /// The task that took events last: it handles an event until it requests the next one.
  private var handlingTask = TaskIdentity.none
  /// The most events that a task takes at once.
  private let batchLimit: Int
  /// The events taken and not yet returned.
  private var batch = RingBuffer<Item>()
  /// How many of the latest batch were returned: delivered, but not yet counted so in `state`.
  // Relaxed: one writer, the isolation that iterates, so a load and a store suffice. It is reset,
  // and read by other threads, inside `lock`, together with the count in `state`.
  private let returned = Atomic<Int>(0)
  /// The size of the latest batch.
  private var taken = 0
  /// The number of results that may follow before the task must yield.
  private var budget = StreamMailbox.resultsPerYield
  /// Whether the subscription had ended, and everything was returned, at a request.
  private(set) var wasExhausted = false
  /// Whether a result was requested.
  private var hasStarted = false

  /// The most results without a suspension.
  private static var resultsPerYield: Int { 64 }

  init(limit: Int, whenFull: OverflowPolicy, drops: DropCounter?) {
    batchLimit = min(64, limit)
    super.init(MailboxState(limit: limit, whenFull: whenFull, isIdle: false), drops: drops)
  }

  /// A mailbox that has finished, without events.
  static func finished() -> StreamMailbox {
    let mailbox = StreamMailbox(limit: 1, whenFull: .dropNewest, drops: nil)
    _ = mailbox.lock.withLock { mailbox.state.close(.finished) }
    return mailbox
  }

  /// Resumes all sleepers: the first to run takes the event, and the others sleep again.
  override func wake(_ entry: Entry) {
    resume(lock.withLock { takeSleepers() })
  }

  override var isCalledByCurrentTask: Bool {
    let current = TaskIdentity.current
    return current != .none && lock.withLock { handlingTask == current }
  }

  override var statistics: DeliveryStatistics {
    lock.withLock {
      var statistics = state.statistics
      statistics.delivered += returned.load(ordering: .relaxed)
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

  /// Counts a result that is not an event: a number of dropped events, or the end.
  func spendBudget() { budget -= 1 }

  /// Whether events were taken and not yet returned.
  var hasTaken: Bool { !batch.isEmpty }

  /// The next of the events that were taken, within the budget.
  func nextTaken() -> Item? {
    guard budget > 0, let item = batch.popFirst() else { return nil }
    budget -= 1
    returned.store(returned.load(ordering: .relaxed) + 1, ordering: .relaxed)
    return item
  }

  /// The number of events dropped before the next one that was taken; reported once.
  func takeDropped() -> Int {
    guard !batch.isEmpty else { return 0 }
    let dropped = batch[0].dropped
    if dropped > 0 { batch[0].dropped = 0 }
    return dropped
  }

  /// Takes events that wait, after all events taken before were returned.
  ///
  /// - Returns: whether there were any.
  func takeMore() -> Bool {
    let task = TaskIdentity.current
    let (finished, more) = lock.withLock {
      handlingTask = task
      // `wake` in the effects needs no action: the consumer is running.
      return (finishReturned(), state.take(batchLimit, into: &batch))
    }
    taken = batch.count
    finish(finished)
    finish(more)
    return taken > 0
  }

  /// Discards what was taken and not returned, at the end of the iteration.
  func discardTaken() {
    guard taken > 0 else { return }
    let finished = lock.withLock { finishReturned() }
    taken = 0
    var discarded = RingBuffer<Item>()
    swap(&discarded, &batch)
    finish(finished)
    withExtendedLifetime(discarded) {}  // Destroyed when nothing accesses `batch`.
  }

  /// Counts the returned events in `state`. Inside the lock.
  private func finishReturned() -> MailboxState.Effects {
    let delivered = returned.load(ordering: .relaxed)
    returned.store(0, ordering: .relaxed)
    return state.finishTaken(delivered: delivered)
  }

  /// Whether the subscription has ended and nothing waits. Called when everything that was taken was
  /// returned.
  func checkExhausted() -> Bool {
    wasExhausted = wasExhausted || lock.withLock { state.isExhausted }
    return wasExhausted
  }

  func takeDroppedAtEnd() -> Int {
    lock.withLock { state.takeDroppedAtEnd() }
  }
}

// MARK: - Sleeping

extension StreamMailbox {
  private typealias Sleepers = (UnsafeContinuation<Void, Never>?, [UnsafeContinuation<Void, Never>])

  /// Inside the lock.
  private func takeSleepers() -> Sleepers {
    let sleepers = (sleeper, moreSleepers)
    sleeper = nil
    if !moreSleepers.isEmpty { moreSleepers = [] }
    return sleepers
  }

  private func resume(_ sleepers: Sleepers) {
    sleepers.0?.resume()
    for sleeper in sleepers.1 { sleeper.resume() }
  }

  /// Resumes all sleepers for good, because a task is cancelled. Runs no user code.
  func interrupt() {
    let sleepers = lock.withLock {
      isInterrupted = true
      return takeSleepers()
    }
    resume(sleepers)
  }

  /// The time of `timer` is over: resumes all sleepers, to find out which of them it concerns.
  func expire(_ timer: SleepTimer) {
    let sleepers = lock.withLock {
      timer.hasExpired = true
      return takeSleepers()
    }
    resume(sleepers)
  }

  /// Whether the time of `timer` is over, and there is neither an event nor an end to return.
  func isIdle(after timer: SleepTimer) -> Bool {
    lock.withLock { timer.hasExpired && !state.hasWaiting && state.end == nil }
  }

  /// Sleeps until an event may wait, no more will come, a task is cancelled, or the time of `timer`
  /// is over.
  ///
  /// - Returns: `false` if a task was cancelled.
  func sleep(_ timer: SleepTimer?) async -> Bool {
    timer?.start()
    // SAFETY: resumed once: here, or by the thread that takes it out under the lock.
    await suspendUnchecked { continuation in
      let isAwake = lock.withLock {
        guard !isInterrupted, timer?.hasExpired != true, state.sleep() else { return true }
        if sleeper == nil { sleeper = continuation } else { moreSleepers.append(continuation) }
        return false
      }
      if isAwake { continuation.resume() }
    }
    return lock.withLock { !isInterrupted }
  }
}
