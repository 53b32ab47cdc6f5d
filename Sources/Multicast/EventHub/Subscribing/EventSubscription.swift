/// A handle of one subscription to the events of a hub, returned by `subscribe`.
///
/// Keep the handle: the subscription ends when it is destroyed. A subscription with an owner ends
/// with the owner instead.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the handler.
public class EventSubscription: @unchecked Sendable, Unreflected {
  // Sendable: the handle is, and never changes; the subclass adds nothing. There are no others: the
  // class is not open.

  // The only stored property: one more word would cost a handle 16 bytes.
  final let registration: EntryHandle

  init(_ registration: EntryHandle) {
    self.registration = registration
  }

  /// Whether the end of the handle ends the subscription: unless it has an owner.
  fileprivate var endsWithHandle: Bool { !registration.hasOwner }

  deinit {
    // Nothing else could unblock it.
    if endsWithHandle || registration.isBlocked { registration.cancel() }
  }
}

/// A handle that is not the one that ends its subscription.
final class BoundSubscription: EventSubscription, @unchecked Sendable {
  // Sendable: without state.

  override fileprivate var endsWithHandle: Bool { false }
}

extension EventSubscription {
  /// `nil` for a handler that senders call, unless the hub has a replay or the handler receives
  /// positions.
  private var mailbox: Mailbox? { registration.initialMailbox }

  /// Whether the handler can still be called.
  ///
  /// - Complexity: O(1).
  public var isActive: Bool { registration.isActive }

  /// Why the subscription has ended; `nil` before. Waiting events are still delivered after the
  /// end, unless it was cancelled: until then ``isActive`` is `true`, and also while it is blocked.
  ///
  /// - Complexity: O(1).
  public var end: SubscriptionEnd? {
    if let mailbox {
      // An owner's end does not close the mailbox, and a removal does so last.
      return mailbox.end ?? (registration.isActive ? nil : mailbox.endOfRemoved())
    }
    guard !registration.isActive else { return nil }
    return registration.isFinished ? .finished : .cancelled
  }

  /// The error with which the hub has finished, if that has ended this subscription: that of
  /// ``EventHub/finish(throwing:)``. Waiting events are still delivered.
  ///
  /// - Complexity: O(1).
  public var failure: (any Error)? {
    end == .finished ? registration.registry.extras?.failure : nil
  }

  /// Counts of what happened to the events for this subscriber; `nil` without a buffer: for a
  /// handler that senders call, unless the hub has a replay, and for one that receives positions.
  ///
  /// - Complexity: O(1).
  public var statistics: DeliveryStatistics? {
    mailbox.flatMap { $0.isFollowing ? nil : $0.statistics }
  }

  /// Ends the subscription; events that wait are discarded. See ``Registration/cancel()``.
  ///
  /// - Complexity: amortised O(1).
  public func cancel() { registration.cancel() }

  /// Ends the subscription, and returns when its handler is not running and will not run again. See
  /// ``Registration/cancelAndWait()``.
  ///
  /// Inside the handler, or a filter or key of the subscription, it returns at once. The promise
  /// then holds as soon as that call, and every call that other threads had begun before, has
  /// ended.
  ///
  /// - Complexity: amortised O(1), and the wait, which polls in O(threads that have called back).
  public func cancelAndWait() async { await registration.cancelAndWait() }

  /// Ends the subscription, and blocks until its handler is not running and will not run again, or
  /// until `timeout` has passed. See ``Registration/cancelAndWait(timeout:)``.
  ///
  /// - Parameter timeout: the longest wait. Zero or less: checks once without waiting. More than
  ///   100 years: waits without a limit.
  /// - Returns: whether the promise holds. Inside the handler: `true`, and the promise holds later,
  ///   as for ``cancelAndWait()``.
  /// - Complexity: amortised O(1), and the wait, which polls in O(threads that have called back).
  @available(*, noasync, message: "use the async cancelAndWait() instead of blocking the thread")
  @discardableResult
  public func cancelAndWait(timeout: Duration) -> Bool {
    registration.cancelAndWait(timeout: timeout)
  }
}

extension EventSubscription: CustomStringConvertible {
  /// Whether the subscription is active.
  ///
  /// - Complexity: O(1).
  public var description: String { "EventSubscription(isActive: \(isActive))" }
}
