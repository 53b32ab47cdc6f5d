/// How many calls may wait for a delegate on its queue, and what happens when its buffer is full.
///
/// Calls that the queue has already taken, at most 64, do not count.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum QueueBuffering: Sendable, Hashable {
  /// No limit but memory. The default: no call is dropped.
  case unbounded
  /// At most this many calls, at least 1. The policy decides when the buffer is full. With
  /// ``OverflowPolicy/disconnect`` the delegate gets the calls that wait, and then it is removed.
  case bounded(Int, whenFull: OverflowPolicy)
  /// The newest call only: `bounded(1, whenFull: .dropOldest)`.
  case latest

  /// The limit, and what happens when it is reached.
  ///
  /// - Precondition: the limit is at least 1.
  var limit: (count: Int, whenFull: OverflowPolicy) {
    switch self {
    case .unbounded:
      return (.max, .dropNewest)
    case .bounded(let count, let whenFull):
      requireLimit(count)
      return (count, whenFull)
    case .latest:
      return (1, .dropOldest)
    }
  }
}

/// - Precondition: `limit` is at least 1.
@usableFromInline
func requireLimit(_ limit: Int) {
  require(
    limit >= 1,
    "Multicast: a buffer limit of \(limit) would drop everything; use a limit of at least 1.")
}
