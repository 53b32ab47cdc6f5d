/// How many events may wait for one subscriber, and what happens when there are too many.
///
/// Each subscriber has its own policy: a slow one is its own problem. Events that the subscriber
/// has already taken, at most 64 and at most as many as the limit, do not count. Neither do those of
/// a replay with `suspend` and `disconnect`; with the others, a replay is cut to the limit.
public struct BufferingPolicy<Event: Sendable>: Sendable {
  let limit: Int
  let whenFull: OverflowPolicy
  /// Makes the table by which a subscriber's events are coalesced; `nil` if they are not.
  let positions: (@Sendable () -> CoalescingIndex<Event>)?

  private init(
    limit: Int, whenFull: OverflowPolicy,
    positions: (@Sendable () -> CoalescingIndex<Event>)? = nil
  ) {
    self.limit = limit
    self.whenFull = whenFull
    self.positions = positions
  }
}

extension BufferingPolicy {
  /// As many events as there is memory. Nothing is lost.
  public static var unbounded: BufferingPolicy {
    BufferingPolicy(limit: .max, whenFull: .dropNewest)
  }

  /// At most `limit` events.
  ///
  /// - Precondition: `limit` is at least 1.
  public static func bounded(_ limit: Int, whenFull: OverflowPolicy) -> BufferingPolicy {
    requireLimit(limit)
    return BufferingPolicy(limit: limit, whenFull: whenFull)
  }

  /// The newest event only. As `bounded(1, whenFull: .dropOldest)`.
  public static var latest: BufferingPolicy { .bounded(1, whenFull: .dropOldest) }

  /// At most one event for each key: a new one takes the place of the one with its key that waits,
  /// which is dropped, and counted. Events of a replay are not coalesced with each other.
  ///
  /// - Parameter key: computes the key of an event. It is called by senders, and so are the key's
  ///   `hash(into:)` and `==`; no lock is held then.
  @inlinable
  public static func coalescing<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Event) -> Key
  ) -> BufferingPolicy {
    coalescing { CoalescingIndex(by: key) }
  }

  @usableFromInline
  static func coalescing(_ positions: @escaping @Sendable () -> CoalescingIndex<Event>) -> Self {
    BufferingPolicy(limit: .max, whenFull: .dropNewest, positions: positions)
  }
}
