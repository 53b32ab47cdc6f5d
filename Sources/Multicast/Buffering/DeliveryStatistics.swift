/// Counts of the calls or events for one subscriber, by outcome.
///
/// `enqueued == delivered + dropped + discarded + pending` always holds.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct DeliveryStatistics: Sendable, Hashable, Codable {
  /// All calls or events for the subscriber, whatever became of them.
  public internal(set) var enqueued = 0
  /// Those delivered. A queue and an actor count after each batch of at most 64, an asynchronous
  /// handler after each call, and a sequence when `next()` returns the event.
  public internal(set) var delivered = 0
  /// Those dropped because the buffer was full, because a newer event with the same key replaced
  /// them, or because the task of a waiting sender was cancelled.
  public internal(set) var dropped = 0
  /// Those not delivered because the subscriber was removed or had died, or because the
  /// subscription had already ended.
  public internal(set) var discarded = 0

  /// Those that wait or are being delivered.
  public var pending: Int {
    // Wrapping: counts that were decoded may be any numbers, and must not end the process.
    enqueued &- delivered &- dropped &- discarded
  }
}
