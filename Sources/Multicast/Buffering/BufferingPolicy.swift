/// How many events may wait for one subscriber, and what happens when its buffer is full.
///
/// Each subscriber has its own policy, so a slow subscriber does not affect the others. Events that
/// the subscriber has already taken, at most 64 and at most the limit, do not count, also if a
/// block makes it put them back; `dropOldest` drops those first when others come. Neither does a
/// replay with `suspend` and `disconnect`; with the other policies a replay is cut to the limit.
///
/// ## Thread safety
/// A value: any thread may use it. Senders call the key of ``coalescing(by:)``.
public struct BufferingPolicy<Event: Sendable>: Sendable {
  let limit: Int
  let whenFull: OverflowPolicy
  /// Makes the index for coalescing a subscriber's events; `nil` without coalescing.
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
  /// No limit but memory. No event is dropped.
  public static var unbounded: BufferingPolicy {
    BufferingPolicy(limit: .max, whenFull: .dropNewest)
  }

  /// At most `limit` events.
  ///
  /// - Parameters:
  ///   - limit: the most events that may wait.
  ///   - whenFull: what happens to an event that finds the buffer full.
  /// - Returns: the policy.
  /// - Precondition: `limit` is at least 1.
  public static func bounded(_ limit: Int, whenFull: OverflowPolicy) -> BufferingPolicy {
    requireLimit(limit)
    return BufferingPolicy(limit: limit, whenFull: whenFull)
  }

  /// The newest event only: `bounded(1, whenFull: .dropOldest)`.
  public static var latest: BufferingPolicy { .bounded(1, whenFull: .dropOldest) }

  /// At most one event for each key: a new event replaces the waiting event with the same key, in
  /// its place, before the events of other keys that came in between. The old event is dropped and
  /// counted. Events of a replay are not coalesced.
  ///
  /// - Parameter key: computes the key of an event. Senders call it, and the key's `hash(into:)`
  ///   and `==`, without holding a lock.
  /// - Returns: the policy.
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

extension BufferingPolicy: CustomStringConvertible {
  /// The call that makes the policy, such as `bounded(100, whenFull: dropOldest)`, without the key
  /// of ``coalescing(by:)``.
  ///
  /// - Complexity: O(1).
  public var description: String {
    if positions != nil { return "coalescing" }
    return limit == .max ? "unbounded" : "bounded(\(limit), whenFull: \(whenFull))"
  }
}
