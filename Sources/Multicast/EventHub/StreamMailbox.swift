/// The mailbox of an asynchronous sequence.
///
/// ## Thread safety
/// Sending is for any thread; ``next()`` is for one task at a time.
final class StreamMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `consumer` is touched inside `lock` alone, `batch` by the one task that iterates.

  typealias Item = Backlog.Item

  /// The task that sleeps until there is something to take.
  private var consumer: UnsafeContinuation<Void, Never>?
  /// Whether the task that iterates is cancelled.
  private var isInterrupted = false
  /// How many events the task takes at once.
  private let share: Int
  /// What the task has taken and not yet returned.
  private var batch = RingBuffer<Item>()
  /// How many it has taken.
  private var taken = 0

  init(limit: Int, whenFull: Backlog.WhenFull, losses: LossCounter?) {
    share = min(64, limit)
    super.init(Backlog(limit: limit, whenFull: whenFull, isIdle: false), losses: losses)
  }

  /// One to which nothing will come.
  static func finished() -> StreamMailbox {
    let mailbox = StreamMailbox(limit: 1, whenFull: .dropNewest, losses: nil)
    _ = mailbox.lock.withLock { mailbox.backlog.close(.finished) }
    return mailbox
  }

  override func wake(_ entry: Entry) {
    lock.withLock {
      defer { consumer = nil }
      return consumer
    }?.resume()
  }

  /// The next event and how many were lost before it, from what the task has taken.
  func nextTaken() -> Item? {
    batch.popFirst()
  }

  /// Takes what waits, if anything does.
  ///
  /// - Returns: whether something was taken.
  func takeMore() -> Bool {
    let (finished, more) = lock.withLock {
      // The consumer is awake: if nothing waits it will see so, and go to sleep by itself.
      let finished = backlog.finishTaken(delivered: taken)
      return (finished, backlog.take(share, into: &batch))
    }
    finish(finished)
    finish(more)
    taken = batch.count
    return taken > 0
  }

  /// The task takes nothing more: what it has taken and not returned is discarded.
  func abandon() {
    guard taken > 0 else { return }
    finish(lock.withLock { backlog.finishTaken(delivered: taken - batch.count) })
    taken = 0
    batch = RingBuffer()
  }

  /// Ends the sleep for good: the task is cancelled. Runs no user code.
  func interrupt() {
    lock.withLock {
      isInterrupted = true
      defer { consumer = nil }
      return consumer
    }?.resume()
  }

  /// Returns when something waits, nothing more will come, or the task is cancelled.
  func sleep() async {
    // SAFETY: resumed once: here, or by whoever takes it out under the lock.
    await withUnsafeContinuation { continuation in
      let mayGoOn = lock.withLock {
        guard !isInterrupted, backlog.sleep() else { return true }
        consumer = continuation
        return false
      }
      if mayGoOn { continuation.resume() }
    }
  }

  var isExhausted: Bool {
    lock.withLock { backlog.isExhausted }
  }

  func takeMissedAtEnd() -> Int {
    lock.withLock { backlog.takeMissedAtEnd() }
  }
}
