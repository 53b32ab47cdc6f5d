/// What reads a log of topics after a signal.
///
/// ## Thread safety
/// Every function may be called from any thread.
protocol ReadTarget: AnyObject, Sendable {
  /// There is something to read.
  func signal()
  /// No more follows: after what there is to read, unless the reason is a cancellation. Later calls
  /// do nothing.
  ///
  /// - Parameter failure: with which a topic has finished.
  func end(_ reason: SubscriptionEnd, _ failure: (any Error)?)
  var end: SubscriptionEnd? { get }
  /// The hub whose flush waits for what the target does after a signal, if it can be waited for.
  var flushedHub: EventHub<Void>? { get }
}

extension ReadTarget {
  var flushedHub: EventHub<Void>? { nil }
}

/// The mailbox of a sequence has no events then, only signals.
extension StreamMailbox: ReadTarget {
  func end(_ reason: SubscriptionEnd, _ failure: (any Error)?) { end(reason) }
}
