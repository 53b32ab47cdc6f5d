internal import Dispatch

extension Registry {
  /// Returns when every mailbox has done what was pending.
  func flush() async {
    let latch = latchForPending()
    await suspend { continuation in
      latch.wait { continuation.resume() }
    }
  }

  /// Blocks until every mailbox has done what was pending, or until `timeout` has passed.
  ///
  /// Inside a callback this leaves out the mailboxes of callbacks that block in a flush themselves,
  /// for two that waited for each other would never end. Before the thread reads which mailboxes are
  /// blocked, it marks its own; both are sequentially consistent. Suppose threads waited for each
  /// other in a cycle, each for the mailbox of the next. Each read that the next one was not marked,
  /// hence before the next one marked its own and read in turn; the last one read after the first
  /// one had marked, and did not wait for it.
  func flush(timeout: Duration) -> Bool {
    let ours = ThreadCallStack.callsOfThisThread.compactMap { entry in
      // SAFETY: this thread is calling the entry, so it holds it, and the entry its mailbox.
      Unmanaged<Entry>.fromOpaque(entry)._withUnsafeGuaranteedRef { $0.head.pointee.mailbox }
    }
    for mailbox in ours { mailbox._withUnsafeGuaranteedRef { $0.noteBlockedFlushes(1) } }
    defer {
      for mailbox in ours { mailbox._withUnsafeGuaranteedRef { $0.noteBlockedFlushes(-1) } }
    }
    let latch = latchForPending { !ours.isEmpty && $0.isBlockedInFlush }
    let done = DispatchSemaphore(value: 0)
    latch.wait { done.signal() }
    if done.wait(timeout: .now() + DispatchTimeInterval(timeout)) == .success { return true }
    // Nobody waits for the latch any more: calls that poll a queue which stands still would leave
    // one each.
    for case let entry? in storage.snapshot() {
      entry.head.pointee.mailbox?._withUnsafeGuaranteedRef { $0.withdraw(latch) }
    }
    return false
  }

  /// A latch that every mailbox with something pending will count down.
  ///
  /// The mailboxes of callbacks that are running on this thread are left out: they wait for us.
  ///
  /// - Parameter isLeftOut: which others are left out.
  private func latchForPending(
    leavingOut isLeftOut: (Mailbox) -> Bool = { _ in false }
  ) -> FlushLatch {
    let latch = FlushLatch()
    for case let entry? in storage.snapshot() {
      guard let mailbox = entry.head.pointee.mailbox,
        !ThreadCallStack.isCalledByThisThread(entry.identity)
      else { continue }
      mailbox._withUnsafeGuaranteedRef { mailbox in
        guard !isLeftOut(mailbox) else { return }
        latch.add()
        if !mailbox.flush(latch) { latch.countDown() }
      }
    }
    return latch
  }
}

extension DispatchTimeInterval {
  /// `timeout`, rounded down to nanoseconds; nothing if it is negative, and no limit if it is more
  /// than 100 years.
  init(_ timeout: Duration) {
    guard let (seconds, attoseconds) = timeout.asTimeout?.components else {
      self = .never
      return
    }
    self = .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
