internal import Dispatch
internal import Synchronization

extension Registry {
  /// Returns when every mailbox has delivered, dropped or discarded what was pending.
  ///
  /// - Parameter others: entries with mailboxes besides those of the registry.
  func flush(and others: [Entry] = []) async {
    let latch = FlushLatch()
    addPending(to: latch, and: others)
    await latch.wait()
  }

  /// As ``flush()``, but blocks the thread, for at most `timeout`.
  ///
  /// Inside a callback this excludes the mailboxes of callbacks that block in a flush themselves:
  /// two that wait for each other would never end. A thread marks its own mailboxes as blocked
  /// before it reads the marks of others; both are sequentially consistent. Suppose threads waited
  /// in a cycle, each for a mailbox of the next. Each read that the next had no mark, hence before
  /// the next set its mark and read in turn. So the last one read after the first had set its mark,
  /// and did not wait for it: a contradiction.
  ///
  /// - Returns: whether everything was done in time.
  func flush(and others: [Entry] = [], timeout: Duration) -> Bool {
    let thread = FlushingThread()
    return thread.blocked {
      let latch = FlushLatch()
      addPending(to: latch, and: others, excluding: thread.excludes)
      if latch.wait(until: .now() + DispatchTimeInterval(timeout)) { return true }
      // Otherwise each flush of a suspended queue that times out would leave a latch behind.
      withdraw(latch, and: others)
      return false
    }
  }

  /// Ends the flush of `latch` in every mailbox.
  func withdraw(_ latch: FlushLatch, and others: [Entry] = []) {
    for case let entry? in storage.snapshot() + others.map(Optional.some) {
      entry.mailbox?.withdraw(latch)
    }
  }

  /// Makes every mailbox with something pending count down `latch` when that is done.
  ///
  /// Excludes the mailboxes of callbacks that are running on this thread or in the current task,
  /// which wait for it.
  ///
  /// - Parameters:
  ///   - others: entries with mailboxes besides those of the registry.
  ///   - isExcluded: which other mailboxes to exclude.
  func addPending(
    to latch: FlushLatch, and others: [Entry] = [],
    excluding isExcluded: (Mailbox) -> Bool = { _ in false }
  ) {
    // Not an entry that another thread has ended, and is about to take out of the storage.
    // Acquiring: the last call of a handler, which ends it, is among `LastCalls` then.
    let active = storage.snapshot().filter { entry in
      entry.map { EntryHead.isActive($0.head.pointee.state.load(ordering: .acquiring)) } ?? false
    }
    latch.add(active + others.map(Optional.some), excluding: isExcluded)
  }
}

extension FlushLatch {
  /// Counts those of the mailboxes in which something is pending, until that is done. See
  /// ``Registry/addPending(to:and:excluding:)``.
  func add(_ entries: [Entry?], excluding isExcluded: (Mailbox) -> Bool) {
    for case let entry? in entries {
      guard let mailbox = entry.head.pointee.mailbox,
        !ThreadCallStack.isCalledByThisThread(entry.identity)
      else { continue }
      // SAFETY: the array holds the entry, which owns its mailbox.
      mailbox._withUnsafeGuaranteedRef { mailbox in
        guard !mailbox.isCalledByCurrentTask, !isExcluded(mailbox) else { return }
        add()
        if !mailbox.flush(self) { countDown() }
      }
    }
  }

  /// Suspends until everything that the latch counts is done. Call it once, after every `add`.
  func wait() async {
    await suspend { continuation in
      wait { continuation.resume() }
    }
  }

  /// Blocks the thread until everything is done, or until `deadline`.
  ///
  /// - Returns: whether everything is done.
  func wait(until deadline: DispatchTime) -> Bool {
    let done = DispatchSemaphore(value: 0)
    wait { done.signal() }
    return done.wait(timeout: deadline) == .success
  }
}

extension DispatchTimeInterval {
  /// `timeout`, rounded down to nanoseconds; zero if it is negative, `never` if it is more than 100
  /// years.
  init(_ timeout: Duration) {
    guard let (seconds, attoseconds) = timeout.asTimeout?.components else {
      self = .never
      return
    }
    self = .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
