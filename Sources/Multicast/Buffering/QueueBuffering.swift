/// How many calls may wait for a delegate on its queue, and what becomes of those that are too
/// many.
///
/// The calls that the queue is working on, at most 64, do not count.
public enum QueueBuffering: Sendable, Hashable {
  /// As many as there is memory. The default: no call is lost.
  case unbounded
  /// At most so many, at least one. The policy says what becomes of one too many. With
  /// ``OverflowPolicy/disconnect`` the delegate gets the calls that wait, and then it is removed.
  case bounded(Int, whenFull: OverflowPolicy)
  /// At most one: a new call takes the place of one that waits. As `bounded(1, whenFull:
  /// .dropOldest)`.
  case latest

  /// The limit, and what goes when it is reached.
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
func requireLimit(_ limit: Int) {
  require(
    limit >= 1,
    "Multicast: a buffer limit of \(limit) would lose everything; use a limit of at least 1.")
}
