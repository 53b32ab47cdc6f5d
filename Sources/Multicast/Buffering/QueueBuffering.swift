/// How many calls may wait for a delegate on its queue, and what becomes of those that are too
/// many.
///
/// The calls that the queue is working on, at most 64, do not count.
public enum QueueBuffering: Sendable, Hashable {
  /// As many as there is memory. The default: no call is lost.
  case unbounded
  /// At most so many, at least one. If there is one too many, one is dropped, and counted: see
  /// ``Drop``.
  case bounded(Int, whenFull: Drop)
  /// At most one: a new call takes the place of one that waits. As `bounded(1, whenFull:
  /// .dropOldest)`.
  case latest

  /// Which call goes when there is one too many.
  public enum Drop: Sendable, Hashable, CaseIterable {
    /// The one that has waited longest.
    case dropOldest
    /// The one that is to be added.
    case dropNewest
  }

  /// The limit, and what goes when it is reached.
  ///
  /// - Precondition: the limit is at least 1.
  var limit: (count: Int, whenFull: Backlog.WhenFull) {
    switch self {
    case .unbounded:
      return (.max, .dropNewest)
    case .bounded(let count, whenFull: let drop):
      requireLimit(count)
      return (count, drop == .dropOldest ? .dropOldest : .dropNewest)
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
