internal import Dispatch

extension Registry {
  /// Returns when every mailbox has delivered, dropped or discarded what was pending.
  ///
  /// - Parameter lanes: entries with mailboxes besides those of the registry.
  func flush(and lanes: [Entry] = []) async {
    let latch = latchForPending(and: lanes)
    await suspend { continuation in
      latch.wait { continuation.resume() }
    }
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
  func flush(and lanes: [Entry] = [], timeout: Duration) -> Bool {
    let ours = ThreadCallStack.callsOfThisThread.compactMap { entry in
      // SAFETY: this thread is calling the entry, so it holds it; the entry owns its mailbox.
      Unmanaged<Entry>.fromOpaque(entry)._withUnsafeGuaranteedRef { $0.head.pointee.mailbox }
    }
    for mailbox in ours { mailbox._withUnsafeGuaranteedRef { $0.addBlockedFlushes(1) } }
    defer {
      for mailbox in ours { mailbox._withUnsafeGuaranteedRef { $0.addBlockedFlushes(-1) } }
    }
    let latch = latchForPending(and: lanes) { !ours.isEmpty && $0.isBlockedInFlush }
    let done = DispatchSemaphore(value: 0)
    latch.wait { done.signal() }
    if done.wait(timeout: .now() + DispatchTimeInterval(timeout)) == .success { return true }
    // Otherwise each flush of a suspended queue that times out would leave a latch behind.
    for case let entry? in storage.snapshot() + lanes.map(Optional.some) {
      entry.mailbox?.withdraw(latch)
    }
    return false
  }

  /// A latch that every mailbox with something pending will count down.
  ///
  /// Excludes the mailboxes of callbacks that are running on this thread, which wait for it.
  ///
  /// - Parameters:
  ///   - lanes: entries with mailboxes besides those of the registry.
  ///   - isExcluded: which other mailboxes to exclude.
  private func latchForPending(
    and lanes: [Entry], excluding isExcluded: (Mailbox) -> Bool = { _ in false }
  ) -> FlushLatch {
    let latch = FlushLatch()
    for case let entry? in storage.snapshot() + lanes.map(Optional.some) {
      guard let mailbox = entry.head.pointee.mailbox,
        !ThreadCallStack.isCalledByThisThread(entry.identity)
      else { continue }
      mailbox._withUnsafeGuaranteedRef { mailbox in
        guard !isExcluded(mailbox), !mailbox.isCalledByCurrentTask else { return }
        latch.add()
        if !mailbox.flush(latch) { latch.countDown() }
      }
    }
    return latch
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
