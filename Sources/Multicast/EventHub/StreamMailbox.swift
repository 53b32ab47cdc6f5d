internal import Synchronization

/// The mailbox of an asynchronous sequence.
///
/// ## Thread safety
/// Sending is for any thread. Taking is for the isolation to which the iterator belongs. Several
/// tasks of one actor may take and sleep in turns: each event goes to one of them.
final class StreamMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `sleeper`, `moreSleepers` and `isInterrupted` are touched inside `lock` alone, `batch`,
  // `taken`, `budget` and `hasBegun` by the isolation that iterates.

  typealias Item = MailboxState.Item

  /// A task that sleeps until there is something to take.
  private var sleeper: UnsafeContinuation<Void, Never>?
  /// The others that do: tasks of one actor that share the iterator.
  private var moreSleepers: [UnsafeContinuation<Void, Never>] = []
  /// Whether a task was cancelled in its sleep, or before it slept.
  private var isInterrupted = false
  /// How many events a task takes at once.
  private let share: Int
  /// What was taken and not yet returned.
  private var batch = RingBuffer<Item>()
  /// How many of `taken` were returned: delivered, and not yet counted so in `state`.
  // Relaxed: one writer, the isolation that iterates, so a load and a store suffice. It is reset, and
  // read by other threads, inside `lock`, together with the count in `state`.
  private let returned = Atomic<Int>(0)
  /// How many the latest batch had.
  private var taken = 0
  /// How many more results may come before other tasks must get to run.
  private var budget = StreamMailbox.resultsPerTurn
  /// Whether anything was asked for.
  private var hasBegun = false

  /// How many results come, at most, without a suspension.
  private static var resultsPerTurn: Int { 64 }

  init(limit: Int, whenFull: OverflowPolicy, drops: DropCounter?) {
    share = min(64, limit)
    super.init(MailboxState(limit: limit, whenFull: whenFull, isIdle: false), drops: drops)
  }

  /// One to which nothing will come.
  static func finished() -> StreamMailbox {
    let mailbox = StreamMailbox(limit: 1, whenFull: .dropNewest, drops: nil)
    _ = mailbox.lock.withLock { mailbox.state.close(.finished) }
    return mailbox
  }

  /// Resumes every task that sleeps: which of them finds something is decided when they run, and
  /// the others go back to sleep.
  override func wake(_ entry: Entry) {
    resume(lock.withLock { takeSleepers() })
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
  /// Whether results may come without a suspension; otherwise other tasks must run first.
  var hasBudget: Bool { budget > 0 }

  /// Other tasks have had the opportunity to run.
  func renewBudget() { budget = Self.resultsPerTurn }

  /// Whether this is the first time that something is asked for.
  func begin() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  /// A result is returned that is not an event: a note, or the end.
  func spendBudget() { budget -= 1 }

  /// Whether something was taken and not yet returned.
  var hasTaken: Bool { !batch.isEmpty }

  /// The next event and how many were lost before it, from what was taken, within the budget.
  func nextTaken() -> Item? {
    guard budget > 0, let item = batch.popFirst() else { return nil }
    budget -= 1
    returned.store(returned.load(ordering: .relaxed) + 1, ordering: .relaxed)
    return item
  }

  /// How many events were lost in front of the next one that was taken; they are reported once.
  func takeDropped() -> Int {
    guard !batch.isEmpty else { return 0 }
    let dropped = batch[0].dropped
    if dropped > 0 { batch[0].dropped = 0 }
    return dropped
  }

  /// Takes what waits, if anything does. Everything taken before has been returned.
  ///
  /// - Returns: whether something was taken.
  func takeMore() -> Bool {
    let (finished, more) = lock.withLock {
      // The consumer is awake: if nothing waits it will see so, and go to sleep by itself.
      (finishReturned(), state.take(share, into: &batch))
    }
    taken = batch.count
    finish(finished)
    finish(more)
    return taken > 0
  }

  /// Nothing more is taken: what was taken and not returned is discarded.
  func abandon() {
    guard taken > 0 else { return }
    let finished = lock.withLock { finishReturned() }
    taken = 0
    var discarded = RingBuffer<Item>()
    swap(&discarded, &batch)
    finish(finished)
    withExtendedLifetime(discarded) {}  // It dies when `batch` is not being changed.
  }

  /// Called inside the lock.
  private func finishReturned() -> MailboxState.Effects {
    let delivered = returned.load(ordering: .relaxed)
    returned.store(0, ordering: .relaxed)
    return state.finishTaken(delivered: delivered)
  }

  var isExhausted: Bool {
    lock.withLock { state.isExhausted }
  }

  func takeDroppedAtEnd() -> Int {
    lock.withLock { state.takeDroppedAtEnd() }
  }
}

// MARK: - Sleeping

extension StreamMailbox {
  private typealias Sleepers = (UnsafeContinuation<Void, Never>?, [UnsafeContinuation<Void, Never>])

  /// Called inside the lock.
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

  /// Ends the sleep for good: a task is cancelled, and with it the subscription. Runs no user code.
  func interrupt() {
    let sleepers = lock.withLock {
      isInterrupted = true
      return takeSleepers()
    }
    resume(sleepers)
  }

  /// Returns when something may wait, nothing more will come, or a task is cancelled.
  ///
  /// - Returns: whether it is worth another attempt; otherwise a task was cancelled here.
  func sleep() async -> Bool {
    // SAFETY: resumed once: here, or by the thread that takes it out under the lock.
    await suspendUnchecked { continuation in
      let mayGoOn = lock.withLock {
        guard !isInterrupted, state.sleep() else { return true }
        if sleeper == nil { sleeper = continuation } else { moreSleepers.append(continuation) }
        return false
      }
      if mayGoOn { continuation.resume() }
    }
    return lock.withLock { !isInterrupted }
  }
}
