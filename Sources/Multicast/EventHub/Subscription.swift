internal import Synchronization

/// A handle of one subscription to the events of a hub: what `subscribe` returns.
///
/// The subscription ends when the handle goes away; keep it. (One that has an owner ends with the
/// owner instead.)
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the handler.
public final class Subscription: Sendable {
  let registration: EntryHandle
  /// `nil` for a handler without a queue, unless the hub replays.
  private let mailbox: Mailbox?
  private let finishing: FinishFlag
  private let endsWithHandle: Bool
  /// Whether it has ended before the hub did; only for a handler that the sender calls.
  private let endedEarly = Atomic(false)

  init(
    _ registration: EntryHandle, _ mailbox: Mailbox?, _ finishing: FinishFlag,
    endsWithHandle: Bool
  ) {
    self.registration = registration
    self.mailbox = mailbox
    self.finishing = finishing
    self.endsWithHandle = endsWithHandle
  }

  deinit {
    if endsWithHandle { registration.cancel() }
  }
}

extension Subscription {
  /// Whether the handler can still be called.
  public var isActive: Bool { registration.isActive }

  /// Why nothing more is coming, or `nil` as long as more may come. Events that wait may still be
  /// delivered then.
  public var end: SubscriptionEnd? {
    if let mailbox {
      // Whoever has lost its owner is not told so. Asked again: it may have ended between the looks.
      return mailbox.end ?? (registration.isActive ? nil : mailbox.end ?? .cancelled)
    }
    guard !registration.isActive else { return nil }
    return noteEarlyEnd() ? .cancelled : .finished
  }

  /// Remembers that this ended before the hub, unless the hub has finished: it must not look
  /// otherwise when the hub does.
  ///
  /// - Returns: whether it ended before the hub.
  @discardableResult
  private func noteEarlyEnd() -> Bool {
    // Acquiring: as in `send`.
    if finishing.isRaised.load(ordering: .acquiring) {
      // Relaxed: a mark that only says something about itself.
      return endedEarly.load(ordering: .relaxed)
    }
    endedEarly.store(true, ordering: .relaxed)
    return true
  }

  /// What became of the events for this subscriber, if it has a buffer; `nil` for a handler without
  /// a queue, unless the hub replays.
  public var statistics: DeliveryStatistics? { mailbox?.statistics }

  /// Ends the subscription; events that wait are discarded. See ``Registration/cancel()``.
  public func cancel() {
    noteCancellation()
    registration.cancel()
  }

  private func noteCancellation() {
    if mailbox == nil && registration.isActive { noteEarlyEnd() }
  }

  /// Ends the subscription, and returns when its handler is not running and never will. See
  /// ``Registration/cancelAndWait()``.
  ///
  /// Called from inside the handler itself, or from a filter or key of the subscription, it returns
  /// at once. The promise then starts when that call, and every call that other threads had begun
  /// before, has ended.
  public func cancelAndWait() async {
    noteCancellation()
    await registration.cancelAndWait()
  }

  /// Ends the subscription, and blocks until its handler is not running and never will, or until
  /// `timeout` has passed. See ``Registration/cancelAndWait(timeout:)``.
  ///
  /// - Parameter timeout: how long to wait at the most. If it is zero or less, this only checks. If
  ///   it is more than 100 years, it waits for as long as it takes.
  /// - Returns: whether the promise holds. From inside: `true`, and the promise starts later, as for
  ///   ``cancelAndWait()``.
  @available(*, noasync, message: "use the async cancelAndWait() instead of blocking the thread")
  @discardableResult
  public func cancelAndWait(timeout: Duration) -> Bool {
    noteCancellation()
    return registration.cancelAndWait(timeout: timeout)
  }
}
