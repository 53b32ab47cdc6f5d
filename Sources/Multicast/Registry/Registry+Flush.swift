internal import Dispatch

extension Registry {
  /// Returns when every mailbox has done what was pending.
  func flush() async {
    let latch = latchForPending()
    await withCheckedContinuation { continuation in
      latch.wait { continuation.resume() }
    }
  }

  /// Blocks until every mailbox has done what was pending, or until `timeout` has passed.
  func flush(timeout: Duration) -> Bool {
    let latch = latchForPending()
    let done = DispatchSemaphore(value: 0)
    latch.wait { done.signal() }
    return done.wait(timeout: .now() + DispatchTimeInterval(timeout)) == .success
  }

  /// A latch that every mailbox with something pending will count down.
  ///
  /// The mailboxes of callbacks that are running on this thread are left out: they wait for us.
  private func latchForPending() -> FlushLatch {
    let latch = FlushLatch()
    for case let entry? in storage.snapshot() {
      guard let mailbox = entry.head.pointee.mailbox,
        !ThreadRecord.isCalledByThisThread(entry.identity)
      else { continue }
      latch.add()
      if !mailbox._withUnsafeGuaranteedRef({ $0.flush(latch) }) { latch.countDown() }
    }
    return latch
  }
}

extension DispatchTimeInterval {
  /// `duration`, rounded down to nanoseconds; the longest interval there is if it is longer, and
  /// nothing if it is negative.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard seconds >= 0 else {
      self = .nanoseconds(0)
      return
    }
    self =
      overflow || nanoseconds > Int64.max - 1_000_000_000
      ? .never : .nanoseconds(Int(nanoseconds + attoseconds / 1_000_000_000))
  }
}
