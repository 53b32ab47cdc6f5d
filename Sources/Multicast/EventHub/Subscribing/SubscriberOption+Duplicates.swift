extension SubscriberOption where Event: Equatable {
  /// The handler is not called with an event that is equal to the one before it.
  ///
  /// ```swift
  /// hub.subscribe(options: [.removingDuplicates]) { level in show(level) }
  /// ```
  ///
  /// The event before it is the one with which the handler was called last, so events that a filter
  /// or a full buffer excludes do not count; one whose call an interceptor does not make does.
  /// Equal events take space in the buffer. They are compared where the handler is called, with no
  /// lock held. If calls overlap, in a handler that many threads call or with several concurrent
  /// calls, the one that began last counts.
  ///
  /// Wherever this is among the `options`, a call that it leaves out does not count for
  /// ``first(_:)``, and is neither intercepted nor measured. For a sequence, use an algorithm for
  /// asynchronous sequences that removes duplicates.
  public static var removingDuplicates: SubscriberOption {
    SubscriberOption { request in
      let latest = LatestEvent<Event>()
      request.callFilter = { latest.replace(by: $0) }
    }
  }
}

extension HandlerDelivery {
  /// The same, without the events for which `isIncluded` returns `false`. It is called where the
  /// handler is called.
  func filtered(by isIncluded: @escaping @Sendable (Event) -> Bool) -> Self {
    wrapped { handler in
      { event in if isIncluded(event) { handler(event) } }
    } async: { handler in
      { event in if isIncluded(event) { await handler(event) } }
    }
  }
}

/// The event with which a handler was called last.
///
/// ## Thread safety
/// Every operation may be called from any thread.
private final class LatestEvent<Event: Equatable & Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  /// Guards the event. The user's `==` runs outside, and what is replaced is destroyed outside.
  private let lock = Lock()
  private var event: Event?
  private var version = 0

  /// Replaces the event, unless `new` is equal to it.
  ///
  /// - Returns: whether it was replaced.
  func replace(by new: Event) -> Bool {
    while true {
      let (current, version) = lock.withLock { (event, self.version) }
      if let current, current == new { return false }
      let isReplaced = lock.withLock {
        // `current` keeps the old event, so that it is not destroyed here.
        guard self.version == version else { return false }
        event = new
        self.version += 1
        return true
      }
      withExtendedLifetime(current) {}
      if isReplaced { return true }
    }
  }
}
